"""What is made of a folder of results: the same each time, and any drift is said."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from constraintrot.errors import ConstraintRotError
from results.tools import __main__ as command
from results.tools import build, other_papers
from tests.report.page.helpers import arm
from tests.report.test_qualification import qualified
from tests.results.conftest import DECAY, RUN, describe, put

pytestmark = pytest.mark.early

ROOT = Path(__file__).parents[2]


def test_the_committed_results_are_what_their_sources_make() -> None:
    assert not build.differences(ROOT / "results")


def test_the_other_papers_are_on_the_page_of_claims(results: Path) -> None:
    assert not other_papers.section(results)
    page = (ROOT / "results/reproduction.md").read_text("utf-8")
    assert page.endswith(other_papers.section(ROOT / "results"))
    section = page.partition("## The other papers")[2]
    for name in ("playbook", "wiki", "pipeline"):
        # All rows of their pages, with the verdicts.
        of_its_own = (ROOT / f"results/{name}.md").read_text("utf-8").partition("\n- *same*")[0]
        rows = [line for line in of_its_own.splitlines() if line.startswith("| ")][2:]
        assert len(rows) > 6
        assert all(row in section for row in rows)


def test_what_was_written_has_no_drift_and_counts_come_from_the_frame(results: Path) -> None:
    changed = build.write(results)
    assert sorted(Path(path).relative_to(results).as_posix() for path in changed) == [
        "README.md", "first.md", "report/report.html", "report/report.md", "report/summary.json",
        "reproduction.md",
    ]  # fmt: skip
    assert not build.differences(results)
    readme = (results / "README.md").read_text()
    assert readme.startswith("Before.\n")
    assert readme.endswith("After.\n")
    assert "| [First](first.md) | 2026-01-02 | 16 | Something. | The rest. |" in readme
    page = (results / "first.md").read_text()
    assert "16, of 8 variants of 1 policies" in page
    assert "| soft | compaction | 8/8 = 100 % [63, 100] |" in page
    told = json.loads((results / "report/summary.json").read_text())
    assert told["episodes"] == 16
    assert told["runs"][0]["command"] == "# a machine\n# greedy\n$ inspect eval it"
    shown = (results / "report/report.html").read_text()
    assert str(results) not in shown
    assert "All are in <code>frames</code>" in shown


def test_claims_are_of_the_families_where_the_subject_qualifies(results: Path) -> None:
    subject: dict[str, Any] = {"agent": "a/model", "scaffold": "direct"}
    for name, family in (("first", "soft_email"), ("other", "soft_spend")):
        rows = [*arm("control", 8, 0, family=family), *arm("compaction", 8, 8, family=family)]
        put(results, name, [{**row, **subject} for row in rows])
    describe(results, [{**RUN, "frames": ["first.csv", "other.csv"]}], [DECAY])
    build.write(results)
    bare = (results / "reproduction.md").read_text()
    assert "16/16 = 100 %" in bare
    assert bare.index("**Who qualifies.** No qualification was given") < bare.index("## Decay")
    assert "(qualification not given)" in (results / "report/report.md").read_text()
    (results / "qualification").mkdir()
    qualified(results / "qualification" / "a.json", "soft_email", **subject)
    older = [*arm("control", 8, 0), *arm("compaction", 8, 8)]
    put(results, "older", [{**row, **subject, "scaffold": "deliberate"} for row in older])
    at = {"title": "Older", "where": {"scaffold": "deliberate"}}
    new = {**DECAY, "where": {"scaffold": "direct"}}
    run = {**RUN, "frames": ["first.csv", "other.csv", "older.csv"]}
    describe(results, [run], [new, {**DECAY, **at}])
    build.write(results)
    page = (results / "reproduction.md").read_text()
    assert "| compacted | violated | 8/8 = 100 %" in page
    assert page.index("| soft_email | 30/30 [90, 100] |") < page.index("## Decay")
    (where,) = re.findall(
        r"\*\*Who qualifies\.\*\* a/model, direct, on soft_email\.(.*)\n\n\*\*Claim", page
    )
    assert where == (
        " The qualification of a/model with scaffold direct was played at context_tokens 300, and"
        " results are also at 800."
    )
    told = "qualifies.** not asked of a/model, deliberate; its episodes are of soft_email."
    assert told in page
    report = (results / "report/report.md").read_text().replace("\\", "")
    assert "soft_spend" in report
    assert "## a/model, deliberate" in report
    assert report.partition("## a/model, direct")[2].count("(qualification not given)") == 0
    assert report.count("(qualifies: 1 of 1 families)") == 1
    assert re.search(r"\| in words +\| qualifies ", report)
    assert "a/model, scaffold direct: families that claims are of:" in report
    shown = (results / "report/report.html").read_text()
    assert shown.count('<a href="#qualification">Qualifies: 1 of 1 families</a>') == 1
    qualified(results / "qualification" / "a.json", "soft_email", n=6, **subject)
    build.write(results)
    told = "a/model, direct, by its rates alone (n too small for the bounds), on soft_email."
    assert told in (results / "reproduction.md").read_text()
    qualified(results / "qualification" / "a.json", "hard_pii", **subject)
    (results / "frames/older.csv").unlink()
    describe(results, [{**RUN, "frames": ["first.csv", "other.csv"]}], [DECAY])
    with pytest.raises(ConstraintRotError, match="nothing is left to compute"):
        build.write(results)


def test_elsewhere_too_claims_are_of_families_where_the_subject_qualifies(results: Path) -> None:
    """In a framework it is another subject, which nobody asked; the families are the same."""
    subject: dict[str, Any] = {"agent": "a/model", "scaffold": "direct"}
    for name, family in (("first", "soft_email"), ("other", "soft_spend")):
        rows = [*arm("control", 8, 0, family=family), *arm("compaction", 8, 8, family=family)]
        both = [{**row, "harness": harness} for row in rows for harness in ("replay", "langgraph")]
        put(results, name, [{**row, **subject} for row in both])
    (results / "qualification").mkdir()
    qualified(results / "qualification" / "a.json", "soft_email", harness="replay", **subject)
    run = {**RUN, "frames": ["first.csv", "other.csv"]}
    there = {**DECAY, "where": {"harness": "langgraph"}}
    describe(results, [run], [there])
    with pytest.raises(
        ConstraintRotError, match="'Decay': it has episodes of soft_spend, on which"
    ):
        build.write(results)
    describe(results, [run], [{**DECAY, "where": {**there["where"], "family": "soft_email"}}])
    build.write(results)
    told = "not asked of a/model, direct, harness langgraph; its episodes are of soft_email."
    assert told in (results / "reproduction.md").read_text()


def test_each_language_has_the_families_of_its_own_qualification(results: Path) -> None:
    """Asked in two, a claim in one is not held to what the other lacks; elsewhere either counts."""
    subject: dict[str, Any] = {"agent": "a/model", "scaffold": "direct"}
    for name, family in (("first", "soft_email"), ("other", "soft_spend")):
        rows = [*arm("control", 8, 0, family=family), *arm("compaction", 8, 8, family=family)]
        spoken = [{**row, "locale": locale} for row in rows for locale in ("en", "es", "zh")]
        put(results, name, [{**row, **subject} for row in spoken])
    (results / "qualification").mkdir()
    qualified(
        results / "qualification" / "en.json", "soft_email", "soft_spend", locale="en", **subject
    )
    qualified(results / "qualification" / "es.json", "soft_email", locale="es", **subject)
    run = {**RUN, "frames": ["first.csv", "other.csv"]}
    everywhere = {**DECAY, "where": {"locale": ["en", "es", "zh"]}}
    describe(results, [run], [everywhere])
    build.write(results)
    told = (results / "reproduction.md").read_text()
    assert "on soft_email, soft_spend; a/model, direct, on soft_email; not asked of" in told


def test_a_comparison_on_both_pages_has_one_p_value(results: Path) -> None:
    """Compaction is a primary claim of the report too; the floor is a claim of this page alone."""
    put(results, "first", [*arm("floor", 8, 0), *arm("control", 8, 0), *arm("compaction", 8, 8)])
    floor = {**DECAY["arms"], "seen": {"where": {"condition": "floor"}}}
    pair = {**DECAY["arms"], "other": {"where": {"condition": "floor"}}}
    both = [{"a": one, "b": "compacted", "b_is": "higher"} for one in ("seen", "other")]
    describe(
        results,
        [RUN],
        [
            DECAY,
            {**DECAY, "title": "Floor", "arms": floor},
            {**DECAY, "title": "Both", "arms": pair, "tests": both},
        ],
    )
    build.write(results)
    claims = (results / "reproduction.md").read_text()
    report = (results / "report/report.md").read_text()
    # Three claims and no more, for one is on both pages: 3 * 2 / 2^8.
    assert "over the 3 claims of [primary.yaml]" in claims
    assert "Adjusted over the primary claims, p = 0.023." in claims
    assert claims.count("8 pairs of 8 requests, p = 0.023 adjusted (McNemar") == 4
    primary, _, exploratory = report.partition("Exploratory")
    assert len(re.findall(r"p = 0\.023 +\| more violations", primary)) == 2
    assert "over the 3 primary claims, these and those of reproduction.yaml" in primary
    assert "p = 0.0078" not in claims + report
    assert "floor" not in exploratory.partition("\n## ")[0]


def test_the_committed_pages_agree_on_compaction() -> None:
    found = [
        re.findall(pattern, (ROOT / "results" / name).read_text())
        for name, pattern in (
            (
                "reproduction.md",
                r"control\) → after compaction, .* (\d+) pairs of \d+ requests, p ([=<] [\d.]+) adj",
            ),
            ("report/report.md", r"\| (\d+) +\|.* 0 fewer +\| p \\?([=<] [\d.]+) +\| more viol"),
        )
    ]
    assert found[0] == found[1]
    assert len(found[0]) == 1


def test_a_run_is_added_by_a_frame_and_an_entry(results: Path) -> None:
    build.write(results)
    put(results, "second", arm("compaction", 3, 1, channel="memory"))
    with pytest.raises(ConstraintRotError, match=r"second\.csv, which no run of runs\.yaml names"):
        build.differences(results)
    describe(results, [RUN, {**RUN, "name": "second", "title": "Second"}], [DECAY])
    said = build.differences(results)
    assert f"{results / 'second.md'} is not there; run `make report` and commit it" in said
    assert f"{results / 'README.md'} is not what its sources make; run `make report`:" in said
    assert any("[Second](second.md)" in line for line in said)
    build.write(results)
    assert json.loads((results / "report/summary.json").read_text())["episodes"] == 19
    assert "| compacted | violated | 9/11 = 82 %" in (results / "reproduction.md").read_text()


def test_the_command_says_what_differs_and_exits_with_1(results: Path) -> None:
    run = CliRunner()
    assert run.invoke(command.main, [str(results)]).exit_code == 0
    path = results / "reproduction.md"
    path.write_text(path.read_text().replace("8/8", "7/8"))
    (results / "report/old.html").write_text("old")
    found = run.invoke(command.main, [str(results), "--check"])
    assert found.exit_code == 1
    assert "reproduction.md is not what its sources make" in found.stdout
    assert "-| compacted | violated | 7/8 = 100 %" in found.stdout
    assert "+| compacted | violated | 8/8 = 100 %" in found.stdout
    assert "old.html has no source; delete it" in found.stdout
    assert "README" not in found.stdout


def test_a_page_without_marks_is_refused(results: Path) -> None:
    (results / "README.md").write_text("Nothing.\n")
    found = CliRunner().invoke(command.main, [str(results)])
    assert found.exit_code == 2
    assert "README.md has to hold the lines" in found.stderr
