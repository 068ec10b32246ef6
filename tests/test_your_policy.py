"""The page "Your policy", command by command; its first tutorial is in tests/test_tutorials.py."""

import json
import re
from pathlib import Path

import pytest
import yaml

from constraintrot.authoring.conditions import condition
from constraintrot.authoring.sentence import read
from constraintrot.grading.predicates._argument import OnArgument
from constraintrot.scenario import user_files
from constraintrot.scenario.predicate import PREDICATES, predicate_from
from tests.docs_code import DOCS
from tests.doctor.sessions import lost_session
from tests.test_commands import run, sequences

PAGE = DOCS / "your-policy.md"
TOOLS = [
    {"name": "purge_mail", "description": "Delete mail.", "parameters": {
        "type": "object", "required": ["mailbox", "older_than_days"],
        "properties": {"mailbox": {"type": "string"}, "older_than_days": {"type": "integer"}}}}
]  # fmt: skip


def test_every_command_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_files, "_KNOWN", {})
    monkeypatch.setattr(user_files, "_made_known", user_files.version() + 1)
    lines = [line for block in sequences(f"docs/{PAGE.name}") for line in block]
    assert len(lines) == 5
    for at, block in enumerate(sequences(f"docs/{PAGE.name}")):
        folder = tmp_path / str(at)
        folder.mkdir()
        monkeypatch.chdir(folder)
        (folder / "openapi.yaml").write_text(json.dumps(TOOLS))
        lost_session(folder / "session.jsonl")
        for line in block:
            result = run(line.replace("scenario check", "scenario check --seeds 2"))
            assert result.exit_code == 0, f"{line}\n{result.output}\n{result.exception!r}"


def test_the_page_names_every_predicate_that_a_draft_may_have_and_its_fields() -> None:
    text = PAGE.read_text(encoding="utf-8")
    general = [name for name in PREDICATES.names() if issubclass(PREDICATES.get(name), OnArgument)]
    for name in [*general, "not_in_language", "tool_called", "all_of", "any_of"]:
        row = next(
            line for line in text.splitlines() if line.startswith("|") and f"`{name}`" in line
        )
        shared = {"argument", "function", "missing"} if name != "tool_called" else set[str]()
        for field in set(PREDICATES.get(name).model_fields) - shared:
            assert f"`{field}`" in row, (name, field)
    for sentence in ("Never spend over $9.", "Only use eu-west-1.", "Never reply after 18:00."):
        assert f"`{condition(read(sentence)).predicate['type']}`" in text


def test_the_example_of_the_page_is_a_predicate() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (block,) = [one for one in blocks if "type: all_of" in one]
    rule = predicate_from(yaml.safe_load(block)["violation"])
    assert rule.check("f", {"age_days": 3, "folder": "legal"}).status == "violates"
    assert rule.check("f", {"age_days": 3, "folder": "News"}).status == "clear"
