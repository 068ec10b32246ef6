"""``constraintrot which-layer`` names the layer that lost the rule, and goes on after a kill."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from constraintrot.cli.main import main
from constraintrot.harnesses.pipeline.which_layer import ROWS, Row
from constraintrot.harnesses.pipeline.which_layer_table import lines, named

ASK = (
    "--profile",
    "literal",
    "-T",
    "defense=pin",
    "--layer",
    "exact_cache",
    "--layer",
    "compaction",
)


def which(*given: str) -> Result:
    return CliRunner().invoke(main, ["which-layer", *given])


def test_a_cache_that_knows_a_request_by_its_words_is_named_and_a_run_goes_on(
    tmp_path: Path,
) -> None:
    given = (*ASK, "--variants", "1", "-o", str(tmp_path), "--csv", str(tmp_path / "t.csv"))
    first = which(*given)
    assert first.exit_code == 0, first.output
    row = next(line for line in first.output.splitlines() if line.startswith("| exact_cache"))
    assert row.startswith("| exact_cache | 1/1 | 1/1 |")
    assert "Took the rule away: exact_cache (1)." in first.output
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 1 + ASK.count("--layer")
    rows = tmp_path / ROWS
    text = rows.read_text()
    # Killed in the middle of the last line: that episode is played again, and no other.
    rows.write_text(text[:-20])
    assert which(*given).output == first.output
    assert sorted(rows.read_text().splitlines()) == sorted(text.splitlines())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--profile", "loose"], "profile is kept or literal, not 'loose'"),
        (["--layer", "cache"], "no layer 'cache' in profile kept; there are prefix"),
        (["-T", "conditions=floor"], "which-layer sets conditions itself"),
        (["-T", "nothing=1"], "unknown task parameter 'nothing'"),
        (["--variants", "0"], "at least 1"),
        (["--variants", "9999"], "has the seeds 0 to"),
        (["soft_nothing"], "soft_nothing"),
    ],
)
def test_what_is_wrong_is_said(given: list[str], said: str, tmp_path: Path) -> None:
    result = which(*given, "-o", str(tmp_path))
    assert result.exit_code == 2
    assert said in result.output


def played(arm: str, *violated: int, lost_at: str | None = None) -> list[Row]:
    return [
        Row("key", "soft_email", seed, arm, "violated" if hit else "declined", not hit, lost_at)
        for seed, hit in enumerate(violated)
    ]


def test_the_table_tells_breaking_alone_from_rescuing_by_absence() -> None:
    broken, whole = [1] * 12, [0] * 12
    rows = [
        *played("none", *whole), *played("all", *broken, lost_at="compaction"),
        *played("only compaction", *broken), *played("without compaction", *whole),
        *played("only tools", *whole), *played("without tools", *broken),
    ]  # fmt: skip
    told = lines(rows, ["compaction", "tools"])
    assert [one.alone.verdict for one in told] == ["b is higher", "not distinguishable at this n"]
    assert named(told) == (
        "Took the rule away: compaction (12). Break it alone: compaction. Rescue it by their"
        " absence: compaction."
    )
    silent = [*rows, Row("key", "soft_email", 12, "only tools", "error")]
    assert [one.silent for one in lines(silent, ["compaction", "tools"])] == [0, 1]


@pytest.mark.parametrize("given", [("--model", "nobody"), ("--model-role", "summarizer=nobody")])
def test_a_model_that_there_is_not_is_said(tmp_path: Path, given: tuple[str, str]) -> None:
    done = which(*ASK, "-o", str(tmp_path), *given)
    assert done.exit_code == 2
    assert "nobody: Model name 'nobody' should be" in done.output
