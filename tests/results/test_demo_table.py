"""The table of the demo is of a committed run of ``make demo``, and the README's of a reproduction."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from constraintrot.report.page import frames
from constraintrot.report.table import text
from constraintrot.runs import demo
from constraintrot.runs.demo import CONDITIONS, CONTEXT_TOKENS, SCAFFOLD, TASKS
from results.tools.demo_picture import first_request, picture

ROOT = Path(__file__).parents[2]


def cells(table: str) -> list[list[str]]:
    """The rows of a table in Markdown, without those of the rule; how one refused is left out."""
    rows = [line for line in table.splitlines() if line.startswith("| ")]
    found = [[cell.strip() for cell in row.strip("|").split("|")][:5] for row in rows]
    return [[re.sub(r" \(.*\)$", "", cell) for cell in row] for row in found if row[0][:3] != "---"]


def test_the_table_of_the_demo_is_the_committed_demo() -> None:
    readme = (ROOT / "results/README.md").read_text(encoding="utf-8")
    frame = frames.read(str(ROOT / "results/demo.csv"))
    shown = readme[readme.index("| family ") : readme.index("`floor`: no policy was given.")]
    assert cells(shown) == cells(text(frame, by=["family"]))
    assert set(frame["task"]) == set(TASKS)
    assert set(frame["condition"]) == set(CONDITIONS.split(","))
    assert set(frame["scaffold"]) == {SCAFFOLD}
    assert set(frame.loc[frame["condition"] == "control", "context_tokens"]) == {CONTEXT_TOKENS}


def test_its_minutes_are_those_of_its_episodes() -> None:
    """From the first start to the last, and as long as the last took; weights and reports beside."""
    readme = (ROOT / "results/README.md").read_text(encoding="utf-8")
    (minutes,) = re.findall(r"The run took (\d+) minutes", readme)
    spent = frames.read(str(ROOT / "results/demo.csv"))["seconds"].sum() / 60
    assert spent <= int(minutes) <= spent + 2


@pytest.mark.parametrize(
    ("scaffold", "name"), [("review", "local-1.5b"), ("direct", "acting-1.5b")]
)
def test_the_readmes_table_is_of_the_committed_reproductions(scaffold: str, name: str) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    cells = [[re.sub(r"\[(.*)\]\(.*\)", r"\1", cell.strip()) for cell in line.strip("|").split("|")]
             for line in readme.splitlines() if " violated | " in line]  # fmt: skip
    shown = [row for row in cells if row[2] == f"`{scaffold}`"]
    page = json.loads((ROOT / f"results/reproduce/{name}/claims.json").read_text())
    claims = {claim["title"]: claim for claim in page["claims"]}
    assert len(shown) == 3
    reader = {row[0]: page["string_reader"].get(row[0]) for row in shown}
    decided = [row for row in shown if "same" in row[4]]
    if decided:
        agreed = " and in ".join(str(reader[row[0]]["agreed"]) for row in decided)
        assert f"in {agreed} of {reader[decided[0][0]]['episodes']} episodes" in readme
    for title, _, _, here, verdict in shown:
        claim = claims[title]
        told = verdict.split(":")[0].split(",")[0]
        assert told == claim["verdict"]
        if told == "same":
            construction = ", by construction" if reader[title]["same"] else ""
            assert verdict == f"same{construction}, p = {claim['adjusted']:.3f}"
        else:
            assert verdict == f"{told}: {', '.join(why['reason'] for why in claim['reasons'])}"
        arms = [arm["here"] for arm in claim["arms"]][:2]
        assert here == " → ".join(f"{arm['k']}/{arm['n']}" for arm in arms) + " violated"


# The README's picture, of a run with the scripted model.


def test_it_shows_the_rule_the_call_and_the_three_verdicts(tmp_path: Path) -> None:
    demo.run(demo.SCRIPTED, 1, str(tmp_path), quick=True)
    drawn = ElementTree.fromstring(picture(first_request(tmp_path)))
    texts = [one for one in drawn.itertext() if one.strip()]
    assert [one for one in texts if one in ("OBEYED", "VIOLATED")] == [
        "OBEYED",
        "VIOLATED",
        "OBEYED",
    ]
    assert any(one.startswith("send_email(to=") for one in texts)
    assert any("brightwater-logistics.example" in one for one in texts)
    assert texts.count("Summary") == 2
