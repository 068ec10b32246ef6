"""A verdict says that something was measured where it was, and only there."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from pydantic import ValidationError

from constraintrot.errors import ConstraintRotError
from constraintrot.report.page import design, frames, primary
from constraintrot.stats.frames import frame_compare, frame_rate
from results.tools import claims, pages
from tests.report.page.helpers import arm
from tests.results.conftest import DECAY, HELD


def prepared(*parts: list[dict[str, Any]]) -> pd.DataFrame:
    return design.prepared(frames.tidy(pd.DataFrame([row for part in parts for row in part])))


def ask(frame: pd.DataFrame, *given: dict[str, Any], **held: Any) -> list[claims.Answered]:
    """The claims asked of a frame."""
    page = claims.Claims.model_validate({"held": HELD | held, "claims": list(given)})
    return claims.answer(page, frame, primary.family(primary.read(), frame))


BOTH = prepared(
    arm("control", 8, 1),
    arm("compaction", 8, 7),
    arm("compaction", 8, 2, defense="pin"),
    arm("compaction", 8, 3, budget_words=300),
    arm("compaction", 6, 5, attack="volume"),
)


def test_figures_are_those_of_the_library() -> None:
    (found,) = ask(BOTH, DECAY)
    parts = {name: BOTH[BOTH["arm"] == name] for name in ("control", "compaction")}
    plain = parts["compaction"][parts["compaction"]["budget_words"] == 60]
    assert found.arms == {"seen": frame_rate(parts["control"]), "compacted": frame_rate(plain)}
    (compared,) = found.compared
    assert compared.comparison is not None
    both = pd.concat([parts["control"], plain])
    wanted = frame_compare(both, {"condition": "control"}, {"condition": "compaction"})
    assert compared.comparison.difference == wanted.difference
    assert (compared.comparison.n, compared.comparison.only_a, compared.comparison.only_b) == (
        8,
        0,
        6,
    )


@pytest.mark.parametrize(
    ("where", "k", "n"),
    [
        ({"condition": "compaction"}, 7, 8),
        ({"condition": "compaction", "budget_words": 300}, 3, 8),
        ({"condition": "compaction", "budget_words": [60, 300]}, 10, 16),
        ({"condition": "compaction", "budget_words": None}, 10, 16),
        ({"condition": "compaction", "attack": ["none", "volume"]}, 12, 14),
        ({"condition": "compaction", "defense": "pin"}, 2, 8),
        ({"condition": "control"}, 1, 8),
        ({"condition": "compaction", "survived": 0}, 7, 7),
        ({"condition": "compaction", "seed": [0, 1]}, 2, 2),
    ],
)
def test_a_query_is_what_one_counts_by_hand(where: dict[str, Any], k: int, n: int) -> None:
    rows = claims.chosen(BOTH, {**HELD, **where})
    assert (int(rows["violation"].sum()), len(rows)) == (k, n)


def test_a_verdict_without_episodes_has_to_be_not_measured() -> None:
    crossed = {**DECAY, "where": {"channel": "memory"}, "compare": []}
    with pytest.raises(ConstraintRotError, match="no episode answers seen, compacted"):
        ask(BOTH, crossed)
    (found,) = ask(BOTH, crossed | {"verdict": "not measured"})
    assert set(found.arms.values()) == {None}
    assert not found.rows


def test_an_arm_that_is_missing_leaves_the_claim_not_measured_and_the_others_shown() -> None:
    arms = DECAY["arms"] | {"memory": {"where": {"channel": "memory"}}}
    partly = {**DECAY, "arms": arms, "compare": [["seen", "compacted"], ["seen", "memory"]]}
    with pytest.raises(ConstraintRotError, match="no episode answers memory"):
        ask(BOTH, partly)
    (found,) = ask(BOTH, partly | {"verdict": "not measured"})
    assert found.arms["memory"] is None
    assert found.arms["seen"] is not None
    assert len(found.compared) == 1


def test_not_measured_with_episodes_in_every_arm_is_refused() -> None:
    with pytest.raises(ConstraintRotError, match="every arm has episodes; look at them"):
        ask(BOTH, DECAY | {"verdict": "not measured"})


def test_what_a_column_does_not_hold_was_not_measured() -> None:
    done = {"where": {"condition": "compaction"}, "value": "utility"}
    utility = {**DECAY, "arms": {"done": done}, "compare": []}
    with pytest.raises(ConstraintRotError, match="no episode answers done"):
        ask(BOTH, utility)


def test_slips_of_the_pen_are_said() -> None:
    with pytest.raises(ConstraintRotError, match="no column chanel; there are"):
        ask(BOTH, DECAY | {"where": {"chanel": "memory"}})
    with pytest.raises(ValidationError, match="compare names nobody, which is no arm"):
        ask(BOTH, DECAY | {"compare": [["seen", "nobody"]]})
    with pytest.raises(ValidationError, match="Input should be 'same', 'different' or"):
        ask(BOTH, DECAY | {"verdict": "nearly"})
    mixed = {"kept": {"where": {"condition": "compaction"}, "value": "survived"}}
    with pytest.raises(ConstraintRotError, match="are no same rate"):
        ask(BOTH, DECAY | {"arms": DECAY["arms"] | mixed, "compare": [["seen", "kept"]]})


def test_a_primary_claim_has_the_p_value_of_the_report_and_others_are_exploratory() -> None:
    family = primary.family(primary.read(), BOTH)
    known = family.of("a/model", "control", "compaction")
    more = {"where": {"condition": "compaction", "budget_words": 300}}
    both = DECAY | {
        "arms": DECAY["arms"] | {"longer": more},
        "compare": [["compacted", "seen"], ["compacted", "longer"]],
    }
    (found,) = ask(BOTH, both)
    same, other = found.compared
    assert known is not None
    assert known.comparison is not None
    assert same.comparison is not None
    assert other.comparison is not None
    assert family.size == 2
    assert same.comparison.adjusted == known.comparison.adjusted == 2 * same.comparison.p_value
    assert other.comparison.adjusted is None
    text = pages.reproduction([found], claims.unused([found], BOTH), len(BOTH))
    assert "p = 0.062 (McNemar, exact), adjusted, a primary claim: not distinguishable" in text
    assert "(McNemar, exact), not adjusted: exploratory." in text


def test_the_page_shows_verdict_figures_and_what_no_claim_rests_on() -> None:
    missing = DECAY | {"title": "Elsewhere", "where": {"channel": "tool"}, "compare": []}
    found = ask(BOTH, DECAY, missing | {"verdict": "not measured", "words": "Not run."})
    left = claims.unused(found, BOTH)
    assert len(left) == len(BOTH) - 16
    text = pages.reproduction(found, left, len(BOTH))
    assert "A small local model is not the paper's models." in text
    assert "| [Decay](#decay) | same |" in text
    assert "| compacted | violated | 7/8 = 88 % [47, 100], Clopper-Pearson |" in text
    assert "seen → compacted: +75 points" in text
    assert "| compacted | violated | not measured |" in text
    assert "**Not measured.** Not run." in text
    assert "- 8: attack none, defense pin, budget\\_words 60" in text
    assert "- 6: attack volume" in text
