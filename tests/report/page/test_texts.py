"""The texts of episodes are kept beside their frame, so a page without logs has them too."""

from __future__ import annotations

from pathlib import Path

import pytest

from constraintrot.errors import ConstraintRotError
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
from tests.report.page.helpers import arm, of, read

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
