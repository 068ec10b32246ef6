"""What the table says of the counterfactual conditions."""

from typing import Any

import pandas as pd

from constraintrot.report import contrasts
from constraintrot.report.page.frames import tidy
from tests.report.page.helpers import arm


def frame(*parts: list[dict[str, Any]]) -> pd.DataFrame:
    return tidy(pd.DataFrame([one for part in parts for one in part]))


def cut(condition: str, n: int, violated: int, **facts: Any) -> list[dict[str, Any]]:
    """Episodes of a counterfactual that shows something."""
    facts = {"degenerate": False, "removed_characters": 0.25, "removed_tokens": 0.2} | facts
    return arm(condition, n, violated, **facts)


def useless(condition: str, seeds: range, why: str) -> list[dict[str, Any]]:
    """Violated episodes of a counterfactual that shows nothing."""
    rows = cut(condition, seeds.stop, seeds.stop, degenerate=True, degenerate_because=why)
    return [row for row in rows if row["seed"] in seeds]


def test_the_contrast_is_of_pairs_that_show_something() -> None:
    found = frame(
        cut("summary_removed", 20, 18),
        cut("sham", 20, 2, removed_characters=0.27, removed_tokens=0.22),
        useless("summary_removed", range(20, 24), "no_policy"),
        useless("sham", range(20, 24), "no_policy"),
        useless("sham", range(24, 25), "no_match"),
    )
    shares, degenerate, contrast = contrasts.lines(found)
    assert "summary_removed 25 % (20 %), sham 27 % (22 %)" in shares
    assert degenerate == (
        "9 of 49 summary_removed and sham episodes are degenerate and in no contrast: the summary"
        " held nothing of the policy (8); no other text of that size for the sham (1)."
    )
    assert contrast.startswith(
        "a/model: summary_removed less sham, which is the policy's own part:"
    )
    assert "+80 points" in contrast
    assert contrast.endswith(", 20 pairs.")


def test_without_a_pair_the_contrast_says_why() -> None:
    found = frame(
        useless("summary_removed", range(4), "nothing_left"),
        useless("sham", range(4), "nothing_left"),
    )
    *_, contrast = contrasts.lines(found)
    assert "cannot be told" in contrast


def test_frames_without_counterfactuals_or_older_ones_say_no_more_than_they_hold() -> None:
    assert list(contrasts.lines(frame(arm("compaction", 4, 1)))) == []
    older = frame(arm("summary_removed", 4, 4, degenerate=True))
    assert list(contrasts.lines(older)) == [
        "4 of 4 summary_removed episodes are degenerate and in no contrast: the summary held"
        " nothing of the policy (4)."
    ]
    assert list(contrasts.summaries(older)) == []


def test_another_draw_is_said_by_defense() -> None:
    facts = {"tokens_after": 90}
    same = arm("compaction", 4, 4, summary_draw="a", **facts)
    pinned = arm("defense_pin", 4, 0, defense="pin", summary_draw="a", **facts)
    assert list(contrasts.pairing(frame(same, pinned))) == []
    other = arm("defense_pin", 4, 0, defense="pin", summary_draw="b", **facts)
    (said,) = contrasts.pairing(frame(same, other))
    assert said.startswith("! Episodes with a defense that start from another summary")
    assert said.endswith(": pin 4 of 4. These pairs share the history only.")
    # Without the same episode undefended there is no pair to speak of.
    assert list(contrasts.pairing(frame(other))) == []


def test_summaries_that_were_asked_for_twice_are_counted() -> None:
    found = frame(arm("compaction", 2, 0, summary_retries=1), arm("floor", 3, 0, summary_retries=0))
    (said,) = contrasts.summaries(found)
    assert said.startswith("2 episodes start from a summary that was asked for twice")


def test_summaries_that_a_limit_cut_off_are_counted() -> None:
    found = frame(arm("compaction", 2, 0, summary_cut=1), arm("floor", 3, 0, summary_cut=0))
    (said,) = contrasts.summaries(found)
    assert said.startswith("2 episodes start from a summary that the summarizer's token limit cut")
