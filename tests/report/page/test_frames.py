"""A frame is read as it was written, and an old one as it was meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from constraintrot.errors import ConstraintRotError
from constraintrot.report import untrusted
from constraintrot.report.page import frames
from tests.report.page.helpers import PLAIN, arm, row

TEXT = st.text(st.characters(codec="utf-8")).filter(lambda text: untrusted.visible(text) == text)


@pytest.mark.parametrize("name", ["episodes.csv", "episodes.parquet"])
@given(reason=TEXT, agent=TEXT.filter(lambda text: bool(text.strip())), budget=st.integers(15, 300))
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_what_is_written_is_read(
    tmp_path: Path, name: str, reason: str, agent: str, budget: int
) -> None:
    facts: dict[str, Any] = {
        "agent": f"a{agent}",
        "reason": f"r{reason}",
        "budget_words": budget,
        "utility": None,
    }
    given = frames.tidy(pd.DataFrame([row(**facts), *arm("control", 2, 1), row(allowed=True)]))
    frames.write(given, tmp_path)
    pd.testing.assert_frame_equal(frames.read(str(tmp_path / name)), given)


def test_formula_cells_are_inert_in_the_csv_alone(tmp_path: Path) -> None:
    given = frames.tidy(pd.DataFrame([row(reason='=HYPERLINK("x")', agent="@SUM(1)")]))
    frames.write(given, tmp_path)
    written = pd.read_csv(tmp_path / "episodes.csv")
    assert written["reason"][0].startswith("'=")
    assert written["agent"][0].startswith("'@")
    assert frames.read(str(tmp_path / "episodes.csv"))["reason"][0] == '=HYPERLINK("x")'


def test_an_old_frame_is_filled_in(tmp_path: Path) -> None:
    old = pd.DataFrame([{k: v for k, v in row().items() if k not in ("distractors", "allowed")}])
    old.to_csv(tmp_path / "old.csv", index=False)
    found = frames.read(str(tmp_path / "old.csv"))
    assert found["distractors"][0] == 0
    assert not found["allowed"][0]
    assert found["episode"][0].startswith("row-")
    assert found["episode"][0] == frames.read(str(tmp_path / "old.csv"))["episode"][0]


def test_columns_of_one_kind() -> None:
    mixed = [{**PLAIN, "budget_words": value} for value in ("60", 60, 60.0, "none")]
    assert list(frames.tidy(pd.DataFrame(mixed))["budget_words"]) == [60, 60, 60, "none"]


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "", "\x00\x01\xff"])
def test_another_table_is_refused_in_words(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConstraintRotError, match=r"other\.csv is no (frame|readable frame)"):
        frames.read(str(path))
    (tmp_path / "other.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(ConstraintRotError, match="no readable frame"):
        frames.read(str(tmp_path / "other.parquet"))
