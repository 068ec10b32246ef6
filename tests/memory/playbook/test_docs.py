"""The page, its figures and ACE's claims are what the committed tables make of them."""

import shutil
from pathlib import Path
from statistics import mean

import pytest
from click.testing import CliRunner

from results.tools import their_claims
from results.tools.playbook import claims
from results.tools.playbook.__main__ import main

ROOT = Path(__file__).parents[3]
RESULTS = ROOT / "results"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [(claims.ADAPTATION, ["adaptation"]), (claims.COLLAPSE, ["collapse", "--steps", "3"])],
)
def test_the_committed_tables_are_of_this_code(
    name: str, arguments: list[str], tmp_path: Path
) -> None:
    made = tmp_path / "made.csv"
    result = CliRunner().invoke(main, [*arguments, "--csv", str(made)])
    assert result.exit_code == 0, result.output
    committed = timeless(RESULTS / f"{name}.csv")
    assert all(row in committed for row in timeless(made)), (
        f"python -m results.tools.playbook {arguments[0]} --csv results/{name}.csv"
    )


def timeless(path: Path) -> list[dict[str, str]]:
    """Return a table's rows without the columns that differ from run to run."""
    return [{**row, "seconds": ""} for row in their_claims.read(path)]


def test_the_docs_say_what_the_tables_hold() -> None:
    page = (ROOT / "docs/playbook.md").read_text("utf-8")
    for row in timeless(RESULTS / f"{claims.ADAPTATION}.csv"):
        sent, written = float(row["input_tokens"]), float(row["output_tokens"])
        assert f"reads {sent:.0f}" in page
        assert f"writes {written:.0f}" in page
    (bulleted,) = (
        one
        for one in claims.steps(RESULTS)
        if one.memory == "proactive" and one.model.startswith("scripted/")
    )
    sent, written = (mean(bulleted.values(f"{name}_tokens")) for name in ("input", "output"))
    assert f"reads {sent:,.0f} tokens a step" in page
    assert f"writes {written:,.0f}" in page


def told(folder: Path) -> list[str]:
    rows = [line for line in claims.page(folder).splitlines() if line.startswith("| ")][2:]
    return [row.rsplit("|", 2)[1].strip() for row in rows]


def put(folder: Path, name: str, model: str, change: dict[str, str] | None = None) -> None:
    """Write a committed table as if a model had made it."""
    text = (RESULTS / f"{name}.csv").read_text("utf-8")
    for script in (
        "scripted/summarizer-collapse",
        "scripted/summarizer-hoard",
        "scripted/obedient",
    ):
        text = text.replace(script, model)
    for old, new in (change or {}).items():
        assert old in text
        text = text.replace(old, new)
    (folder / f"{name}-model.csv").write_text(text, "utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (claims.COLLAPSE, claims.ADAPTATION):
        shutil.copy(RESULTS / f"{name}.csv", tmp_path)
    return tmp_path


def test_scripts_get_no_verdict_and_a_model_does(folder: Path) -> None:
    assert told(folder) == ["not measured"] * 7
    put(folder, claims.COLLAPSE, "local/x")
    put(folder, claims.ADAPTATION, "local/x")
    found = told(folder)
    assert found[:4] == ["same"] * 4
    assert found[5:] == ["not measured"] * 2


def test_the_contrary_and_too_little_are_told(folder: Path) -> None:
    rows = (RESULTS / f"{claims.COLLAPSE}.csv").read_text("utf-8").splitlines()
    head, *steps = [row.replace("scripted/summarizer-hoard", "local/x") for row in rows]
    # A rewrite that never collapsed, and a playbook that lost rules.
    grown = [row.replace(",append only,", ",rewrite,") for row in steps if ",append only," in row]
    kinds = '"counters, no kinds"'
    lossy = [row.replace(kinds, "proactive") for row in steps if kinds in row]
    assert lossy
    written = "\n".join([head, *grown, *lossy]) + "\n"
    (folder / f"{claims.COLLAPSE}-x.csv").write_text(written, "utf-8")
    put(folder, claims.ADAPTATION, "local/x", {",1.0,0.9208,1.0,1.08e-19": ",-1.0,-1.0,-0.9,1e-19"})
    text = (folder / f"{claims.ADAPTATION}-model.csv").read_text("utf-8")
    (folder / f"{claims.ADAPTATION}-model.csv").write_text(text.replace("2.78e-17", "0.4"), "utf-8")
    assert told(folder)[:4] == ["cannot tell", "opposite", "opposite", "cannot tell"]


def test_a_playbook_prevents_no_collapse_where_there_is_none(folder: Path) -> None:
    rows = (RESULTS / f"{claims.COLLAPSE}.csv").read_text("utf-8").splitlines()
    head, *steps = [row.replace("scripted/summarizer-hoard", "local/x") for row in rows]
    grown = [row.replace(",append only,", ",rewrite,") for row in steps if ",append only," in row]
    kept = [row for row in steps if row.startswith("local/x,proactive,")]
    # A run that was taken up again: the steps of one memory stand around those of the other.
    written = [head, *kept[:30], *grown, *kept[30:]]
    (folder / f"{claims.COLLAPSE}-x.csv").write_text("\n".join(written) + "\n", "utf-8")
    assert told(folder)[:2] == ["cannot tell", "cannot tell"]
    (found,) = (
        one for one in claims.steps(folder) if (one.model, one.memory) == ("local/x", "proactive")
    )
    assert [row["step"] for row in found.rows] == list(range(1, len(kept) + 1))
