"""Files and texts that somebody hands us to have us wait, grow or break: each ends soon, by our errors."""

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from constraintrot.attacks import read as read_attack
from constraintrot.coding_agents.sessions import gemini, opencode
from constraintrot.coding_agents.sessions.events import Call, Losses
from constraintrot.coding_agents.sessions.tools import came_by
from constraintrot.doctor import rules
from constraintrot.errors import ConstraintRotError, ScenarioError
from constraintrot.grading.refusal import refuses
from constraintrot.memory.wiki import frontmatter
from constraintrot.memory.wiki.names import WikiError
from constraintrot.report import qualification, yaml_file
from constraintrot.rule_text.reader import Rule
from constraintrot.rule_text.words import reading
from constraintrot.scenario import tool_files, user_files
from constraintrot.scenario.expression import expression, text

SECONDS = 8
BOMB = "a: &a [x, x]\n" + "".join(
    f"{one}: &{one} [*{before}, *{before}]\n"
    for before, one in zip("abcdefghi", "bcdefghij", strict=True)
)
DEEP = "[" * 200_000
NUMBER = "a: 1" + ":1" * 200_000


@pytest.fixture(autouse=True)
def soon() -> Iterator[None]:
    """Each test ends within a bounded time of the processor's."""
    begun = time.process_time()
    yield
    assert time.process_time() - begun < SECONDS


READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "rules": ("rules.yaml", rules.read),
    "markdown rules": ("AGENTS.md", rules.read),
    "tools": ("tools.yaml", tool_files.read),
    "tools in JSON": ("tools.json", tool_files.read),
    "scenario": ("mine.en.yaml", user_files.read),
    "claims": ("claims.yaml", lambda path: yaml_file.load(path, TypeAdapter(list[int]))),
    "qualification": ("qualification.json", qualification.read),
    "attack": ("found.jsonl", lambda path: read_attack(f"file:{path}")),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("content", [BOMB, DEEP, NUMBER, "- " * 100_000, '{"a":' * 100_000, "\0"])
def test_hostile_text_is_refused(reader: str, content: str, tmp_path: Path) -> None:
    name, read = READERS[reader]
    (tmp_path / name).write_text(content)
    with pytest.raises(ConstraintRotError):
        read(tmp_path / name)


@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_regular_file_is_refused(reader: str, tmp_path: Path) -> None:
    name, read = READERS[reader]
    for make in (os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path)):
        make(tmp_path / name)
        with pytest.raises(ConstraintRotError):
            read(tmp_path / name)
        (tmp_path / name).rename(tmp_path / f"{len(list(tmp_path.iterdir()))}.old")
    with (tmp_path / name).open("wb") as file:
        file.truncate(10**10)
    with pytest.raises(ConstraintRotError):
        read(tmp_path / name)


HOSTILE_ITEMS = (
    " " * 60_000, "x" + " " * 60_000 + "y", "never " * 10_000, "-" * 60_000, "a" * 60_000,
    "1." * 30_000, "_" * 60_000, "a@b." * 15_000, "a-b" * 20_000, "禁止。" * 20_000, "(" * 60_000,
)  # fmt: skip


@pytest.mark.parametrize("item", HOSTILE_ITEMS)
@pytest.mark.parametrize("mark", ["- ", "1. ", "- Never push ", ""])
def test_a_list_item_of_any_form_is_read_or_refused_soon(
    mark: str, item: str, tmp_path: Path
) -> None:
    path = tmp_path / "AGENTS.md"
    for written in (mark + item, f"{mark}{item[:1_500]} and never deploy"):
        path.write_text(written)
        try:
            found = rules.read(path)
        except ConstraintRotError:
            continue
        for rule in found:
            assert len(rule.text) <= rules.LONGEST_RULE
            assert reading(Rule(rule.text), [rule.text]).state != "lost"


def test_a_file_of_a_hundred_thousand_rules_is_refused_soon(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.md"
    path.write_text("".join(f"- never a {number}\n" for number in range(50_000)))
    with pytest.raises(ConstraintRotError, match="more than 1,000 rules"):
        rules.read(path)


def test_a_base_that_is_nested_deep_is_refused_not_composed(tmp_path: Path) -> None:
    (tmp_path / "mine.en.yaml").write_text("extends: base\nlocale: en\nfamily: mine\n")
    for content in (DEEP, BOMB):
        (tmp_path / "base.en.yaml").write_text(content)
        with pytest.raises(ScenarioError, match=r"nested more than|aliases"):
            user_files.read(tmp_path / "mine.en.yaml")


@pytest.mark.parametrize(
    "source",
    [
        "'%0999999999d' % 1",
        "'x' % 9",
        "'x' * 999999999",
        "-" * 4_000 + "1",
        "(" * 4_000 + "1" + ")" * 4_000,
        "[" * 2_000 + "1" + "]" * 2_000,
        "1 if " * 800 + "1",
        "a" * 6_000,
        "f'{1:999999999d}'",
    ],
)
def test_an_expression_gives_nothing_large(source: str) -> None:
    with pytest.raises(ScenarioError):
        expression(source).run({"a": 1})
    with pytest.raises(ScenarioError):
        text("{{" + source + "}}{{" + source + "}}").run({})


def test_numbers_still_have_remainders() -> None:
    assert expression("(7 + 1) % 3 * 2").run({}) == 4


def test_a_description_that_refers_to_itself_stays_small(tmp_path: Path) -> None:
    names = [f"S{number}" for number in range(40)]
    schema = {"type": "object", "properties": {n: {"$ref": f"#/schemas/{n}"} for n in names}}
    told = {
        "tools": [{"name": "one", "inputSchema": schema}],
        "schemas": dict.fromkeys(names, schema),
    }
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(told))
    (tool,) = tool_files.read(path)
    assert len(json.dumps(tool.parameters)) < 200_000
    assert set(tool.parameters["properties"]) == set(names)


def _loaded(given: str) -> list[tuple[str, str]]:
    record = {"type": "user", "id": "1", "timestamp": "", "content": given}
    told = [(1, {"$set": {"messages": [record]}})]
    events = list(gemini.read(told, Losses()))
    return [(str(event), "") for event in events]


@pytest.mark.parametrize(
    "given",
    [
        "<session_context>" + "--- Context from: a ---\n" * 5_000,
        "<session_context>" + "--- Context from: " + "a --- " * 10_000,
        "<session_context>" + "".join(f"--- Context from: {n} ---\n" for n in range(5_000)),
        "<session_context>" + "--- Context from: a ---\n\n" * 2_000 + "--- End of Context" * 2_000,
    ],
)
def test_a_sessions_instruction_files_are_found_in_linear_time(given: str) -> None:
    _loaded(given)


@pytest.mark.parametrize("command", ["cat " * 20_000, "cat " + "a" * 60_000, "head ./" * 9_000])
def test_a_sessions_commands_are_read_in_linear_time(command: str) -> None:
    assert came_by(Call("bash", {"command": command})) == ("tool", "bash")


@pytest.mark.parametrize("name", ["session", "message", "part"])
def test_a_view_in_a_database_of_sessions_is_not_run(name: str, tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    endless = "with recursive n(x) as (select 1 union all select x + 1 from n) select x as id, "
    with sqlite3.connect(path) as database:
        for table in ("session", "message", "part"):
            if table != name:
                database.execute(f"create table {table} (id, directory, time_created, data)")
        database.execute(
            f"create view {name} as {endless} x as directory, x as time_created, x as data from n"
        )
    database.close()
    with pytest.raises(sqlite3.Error, match="is a view"):
        opencode.sessions(path)
    with pytest.raises(sqlite3.Error, match="is a view"):
        list(opencode.read_session(path, "1", "", Losses()))


@pytest.mark.parametrize("content", [BOMB, DEEP, NUMBER])
def test_frontmatter_of_a_vault_is_bounded(content: str) -> None:
    with pytest.raises(WikiError):
        frontmatter.read(content)


@pytest.mark.parametrize("said", ["ich kann ", "kann ich ", "ich sende ", "ich sende es ", "muss "])
def test_an_answer_that_begins_to_refuse_again_and_again_is_read_in_time(said: str) -> None:
    assert not refuses(said * 12_000)
