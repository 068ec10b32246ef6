"""One name, one subject: a model with its scaffold and the reader of its rules."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from constraintrot.report.page import design, drawing, frames, headline
from constraintrot.report.page.html import html
from constraintrot.report.page.markdown import markdown
from tests.report.page.helpers import arm, paged


def both(**facts: Any) -> list[dict[str, Any]]:
    return [*arm("control", 8, 0, **facts), *arm("compaction", 8, 8, **facts)]


REVIEW = both(scaffold="review", rule_judge_by="adapter")
DECLINES = [*arm("control", 8, 0), *arm("compaction", 8, 0)]


def test_two_scaffolds_of_one_model_are_two_names_everywhere() -> None:
    page = paged(REVIEW, DECLINES)
    names = ["a/model, direct", "a/model, review"]
    assert list(dict.fromkeys(answer.agent for answer in page.answers)) == names
    (table,) = [one for one in page.sections[0].blocks if getattr(one, "rows", None)][:1]
    assert [str(name) for name in table.columns[:2]] == names  # type: ignore[union-attr]
    assert headline.MEAN not in markdown(page)
    assert page.figure is not None
    assert {row["series"] for row in page.figure.data} == set(names)
    assert not [line for line in page.pooled if "mean" in line]


@pytest.mark.parametrize(
    ("readers", "names"),
    [
        (("adapter", "prompt"), ["a/model, rules by adapter", "a/model, rules by prompt"]),
        (("adapter", None), ["a/model"]),
    ],
)
def test_the_reader_is_a_part_of_the_subject(readers: tuple[str, str], names: list[str]) -> None:
    rows = [{**one, "rule_judge_by": by} for by in readers for one in both(scaffold="review")]
    frame = design.subjects(design.prepared(frames.tidy(pd.DataFrame(rows))))
    assert sorted(set(frame["agent"])) == names
    assert set(frame["model"]) == {"a/model"}


def test_a_mean_is_over_models_of_one_scaffold() -> None:
    other = [{**one, "agent": "b/model"} for one in DECLINES]
    assert headline.MEAN in markdown(paged(DECLINES, other))
    assert headline.MEAN not in markdown(paged(REVIEW, other))


def test_a_fifth_subject_has_a_style_of_its_own() -> None:
    styles = {(at % 4, (at + at // 4) % 4) for at in range(16)}
    assert len(styles) == 16
    assert len(drawing.SERIES) == len(drawing.MARKERS) == len(drawing.LINES) == 4


def test_the_papers_figures_do_not_stand_beside_somebodys_own_rule() -> None:
    own = [{**one, "family": "my_rule"} for one in REVIEW]
    told = markdown(paged(own)) + html(paged(own))
    assert "30 % (0 to 59)" not in told
    assert "Table 2" not in told
    assert "paper" not in markdown(paged(own)).partition("## How it was run")[0].lower()
    assert "30 % (0 to 59)" in markdown(paged(REVIEW)).replace("\\", "")
