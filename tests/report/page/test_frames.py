"""A frame is read as it was written, and an old one as it was meant."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from constraintrot.errors import ConstraintRotError
from constraintrot.report import untrusted
from constraintrot.report.page import frames, source
from constraintrot.report.page.detail import (
    DIFF_LINES,
    Detail,
    Details,
    Line,
    read_texts,
    texts_json,
    texts_path,
)
from constraintrot.report.page.episodes import sides
from constraintrot.report.page.html import html
from constraintrot.report.page.sections import page
from tests.report.page.helpers import PLAIN, arm, of, read, row

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


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        (["True", "False"], [True, False]),
        (["1", "0"], [True, False]),
        (["1.0", "0.0"], [True, False]),
        (["True", "0"], [True, False]),
        (["TRUE", "FALSE"], [True, False]),
        (["yes", "False"], None),
        (["2", "0"], None),
        (["-1", "0"], None),
        (["", "True"], None),
        (["none", "True"], None),
    ],
)
def test_allowed_requests_are_told_from_prohibited_ones_or_refused(
    tmp_path: Path, written: list[str], wanted: list[bool] | None
) -> None:
    path = tmp_path / "f.csv"
    pd.DataFrame([row(allowed=one, seed=at) for at, one in enumerate(written)]).to_csv(
        path, index=False
    )
    if wanted is None:
        with pytest.raises(ConstraintRotError, match=r"allowed is .*; write True or False"):
            frames.read(str(path))
    else:
        assert list(frames.read(str(path))["allowed"]) == wanted


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


# The texts of episodes are kept beside their frame, so a page without logs has them too.

PARTS = [*arm("control", 8, 0), *arm("compaction", 8, 3)]


def put(folder: Path, *details: Detail) -> str:
    """A frame with texts of its episodes beside it."""
    path = folder / "first.csv"
    path.write_text(frames.csv_text(of(PARTS).frame), encoding="utf-8")
    kept = Details()
    kept.take(details)
    Path(texts_path(str(path))).write_text(texts_json(kept), encoding="utf-8")
    return str(path)


def test_a_frame_brings_its_texts_and_the_page_shows_two_arms_side_by_side(tmp_path: Path) -> None:
    frame = of(PARTS).frame
    told = frame[(frame["seed"] == 0)].set_index("condition")["episode"]
    control = Detail(told["control"], calls="it declined")
    compaction = Detail(
        told["compaction"], (Line("dropped", "-Never mail out."),), calls='{"to": "dana"}'
    )
    found = page(source.read([put(tmp_path, control, compaction, Detail("of another frame"))]))
    assert set(found.source.details.kept) == {told["control"], told["compaction"]}
    shown = sides(found)
    assert [one.changed for one in shown] == [True] * 3 + [False] * 3
    assert shown[0].title == "soft_email 0: declined → violated"
    text = html(found)
    first = text.split(f'id="{shown[0].anchor}"')[1].split("</details>")[0]
    assert first.index("it declined") < first.index("&#34;dana&#34;")
    assert '<span class="dropped">-Never mail out.</span>' in first
    assert {link[1:] for link in read(text).having("href")} <= set(read(text).having("id"))


def test_a_pair_with_texts_comes_before_one_without(tmp_path: Path) -> None:
    frame = of(PARTS).frame
    last = frame[frame["seed"] == 2]["episode"]
    found = page(source.read([put(tmp_path, *map(Detail, last))]))
    assert [one.title.split(":")[0] for one in sides(found)][:2] == ["soft_email 2", "soft_email 0"]


def test_texts_from_a_file_are_no_longer_than_those_from_a_log(tmp_path: Path) -> None:
    long = Detail("x", tuple(Line("odd", "y" * 9_000) for _ in range(9_000)), calls="z" * 99_000)
    (one,) = read_texts(put(tmp_path, long))
    assert len(one.diff) == DIFF_LINES + 1
    assert {line.kind for line in one.diff} == {"same"}
    assert max(len(line.text) for line in one.diff) < 1_000
    assert len(one.calls) < 5_000


def test_a_file_of_something_else_is_refused_by_name(tmp_path: Path) -> None:
    path = put(tmp_path)
    Path(texts_path(path)).write_text('[{"episode": 1}]', encoding="utf-8")
    with pytest.raises(ConstraintRotError, match=r"first\.texts\.json holds no texts of episodes"):
        read_texts(path)


def test_survival_that_a_reader_cannot_tell_is_not_taken_from_mentions() -> None:
    """Only episodes from before there were states have nothing else to tell it by."""
    unread = row(measure="words", state="cannot tell", survived=None, mentions=1.0)
    older = row(measure=None, state=None, survived=None, mentions=1.0, seed=1)
    once = frames.tidy(pd.DataFrame([unread, older]))
    for tidied in (once, frames.tidy(once)):
        assert list(tidied["measure"]) == ["words", "mentions"]
        assert tidied["survived"].isna().to_list() == [True, False]
