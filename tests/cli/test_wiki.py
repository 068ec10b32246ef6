"""``constraintrot wiki``: the commands, their wrong uses, and a plan that an agent made."""

import json
from functools import partial
from pathlib import Path

import pytest

from constraintrot.memory.wiki import Edit, Plan, Source, Wiki
from constraintrot.memory.wiki.stores import Folder
from tests.invoked import invoked
from tests.memory.wiki.vaults import KilledError, dying

RULE = "Never send email outside example.com."


run = partial(invoked, "wiki")


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("rules.txt").write_text(f"- {RULE}\n\n", "utf-8")
    Path("memo.md").write_text("Acme delivers badges on Mondays.", "utf-8")
    Path("latin.md").write_bytes("Señor".encode("latin-1"))
    made = run("init", "vault", "--rules", "rules.txt")
    assert "a vault with 1 rules" in made.output
    return tmp_path / "vault"


def test_a_vault_from_init_to_lint(vault: Path) -> None:
    assert RULE in (vault / "CLAUDE.md").read_text("utf-8")
    assert run("ingest", "vault", "memo.md").output.endswith("-memo: memo\n")
    assert "is there already" in run("ingest", "vault", "memo.md").output
    asked = run("query", "vault", "When are badges delivered?", "--log")
    assert RULE in asked.output
    assert "Acme delivers badges on Mondays." in asked.output
    path = run("query", "vault", "badges", "--path").output.splitlines()
    assert path[3] == "concepts/memo.md: in the index"
    assert (
        json.loads(run("query", "vault", "badges", "--json").output)["reads"][0]["part"] == "schema"
    )
    assert run("lint", "vault").output == "every promise holds\n"
    assert "pages              1" in run("graph", "vault").output
    assert json.loads(run("graph", "vault", "--json").output)["pages_concept"] == 1


def test_a_plan_of_an_agent_is_carried_out(vault: Path) -> None:
    plan = {
        "pages": [{"kind": "entity", "title": "Acme", "add": ["Delivers on Mondays, see [[gone]]."]}],
        "analysis": {"title": "Badges", "add": ["Scarce."]},
    }  # fmt: skip
    done = run(
        "ingest", "vault", "memo.md", "--plan", "-", "--title", "Badge memo", "--date",
        "2026-04-01", "--json", input=json.dumps(plan),
    )  # fmt: skip
    told = json.loads(done.output)
    assert told["pages"] == ["acme", "2026-04-01-badges-analysis"]
    assert told["unlinked"] == ["gone"]
    half = '{"pages": [1, {"title": "Rules", "add": ["One."]}]}'
    shown = run("ingest", "vault", "rules.txt", "--plan", "-", input=half).output
    assert shown.splitlines()[1:] == ["! no page: 1"]


def test_a_model_writes_the_plan(vault: Path) -> None:
    done = run("ingest", "vault", "memo.md", "--model", "scripted/summarizer-keep")
    assert "memo: memo" in done.output
    assert "Acme delivers badges" in (vault / "concepts/memo.md").read_text("utf-8")


def test_lint_says_what_is_wrong_and_mends_it(vault: Path) -> None:
    run("ingest", "vault", "memo.md")
    (vault / "index.md").unlink()
    (vault / "CLAUDE.md").unlink()
    found = run("lint", "vault", exits=1)
    assert "index.md: it lacks [[memo]] (not_indexed)" in found.output
    assert "2 findings; --fix puts 1 of them right" in found.output
    fixed = json.loads(run("lint", "vault", "--fix", "--json").output)
    assert [one["code"] for one in fixed["fixed"]] == ["not_indexed"]
    assert [one["code"] for one in fixed["left"]] == ["schema_missing"]
    assert "CLAUDE.md" in fixed["left"][0]["path"]


def test_lint_says_which_file_comes_first(vault: Path) -> None:
    run("ingest", "vault", "memo.md")
    (vault / "concepts/memo.md").unlink()
    (vault / "hot-cache.md").write_bytes(b"\xff")
    for given in ((), ("--fix",)):
        found = run("lint", "vault", *given, exits=1)
        assert "--fix puts 1 of them right, once hot-cache.md can be read" in found.output


def test_a_plan_of_a_source_that_is_there_is_not_dropped_in_silence(vault: Path) -> None:
    run("ingest", "vault", "memo.md")
    again = run("ingest", "vault", "memo.md", "--plan", "-", input='{"pages": []}')
    assert "is there already; nothing of --plan was written" in again.output


def test_a_plan_may_begin_with_a_byte_order_mark(vault: Path) -> None:
    done = run("ingest", "vault", "memo.md", "--plan", "-", input='\ufeff{"pages": []}')
    assert "memo: no page" in done.output


@pytest.mark.parametrize(
    "ending",
    [
        ["lint", "vault", "--fix"],
        ["ingest", "vault", "memo.md"],
        ["ingest", "vault", "rules.txt", "--model", "scripted/summarizer-keep"],
    ],
)
def test_what_a_killed_ingest_refuses_is_said_by_whoever_ends_it(
    vault: Path, ending: list[str]
) -> None:
    run("ingest", "vault", "memo.md")
    page = Edit("concept", "memo", section="Facts", rewrite="Now [[nowhere]].", base="Old.")
    with pytest.raises(KilledError):
        Wiki(dying(Folder(vault), 1, after=True)).ingest(Source("Cut off", "x"), Plan((page,)))
    said = run(*ending).output
    assert "it is not what the rewrite is based on" in said
    assert "no page for nowhere" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["init", "vault"], "is a vault already"),
        (["init", "memo.md"], "is a file"),
        (["query", ".", "x"], "is no vault; `constraintrot wiki init` makes one"),
        (["query", "vault", "x", "-k", "0"], "not in the range"),
        (["query", "vault", "x", "--hot-cache", "warm"], "'guide', 'gate', 'off'"),
        (["ingest", "vault", "memo.md", "--date", "today"], "YYYY-MM-DD"),
        (["ingest", "vault", "gone.md"], "does not exist"),
        (["ingest", "vault", "memo.md", "rules.txt", "--title", "x"], "are of one FILE"),
        (["ingest", "vault", "memo.md", "--plan", "memo.md", "--model", "x"], "not both"),
        (["ingest", "vault", "memo.md", "--plan", "memo.md"], "docs/wiki.md"),
        (["ingest", "vault", "."], "is a folder; name its files"),
        (["ingest", "vault", "latin.md"], "latin.md:1: not UTF-8"),
        (["ingest", "vault", "memo.md", "--plan", "latin.md"], "--plan is not UTF-8"),
        (["ingest", "vault", "memo.md", "--date", "2026-13-45"], "YYYY-MM-DD, not '2026-13-45'"),
        (["ingest", "vault", "memo.md", "--model", "nobody"], "--model nobody: Model name"),
        (["ingest", "vault", "memo.md", "--model", "scripted/nobody"], "unknown scripted model"),
    ],
)  # fmt: skip
def test_a_wrong_use_says_what_to_do(vault: Path, arguments: list[str], said: str) -> None:
    done = run(*arguments, exits=2)
    assert said in done.output
    assert run("lint", "vault").exit_code == 0
