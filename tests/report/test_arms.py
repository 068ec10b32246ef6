"""From a frame: clusters, arms matched episode by episode, and clear words where they are not."""

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest

from constraintrot.errors import ParameterError
from constraintrot.report import arms as frames
from constraintrot.stats.interval import Interval, NoInterval
from constraintrot.stats.matching import numbered
from tests.helpers import known

FAMILIES = ("soft_email", "soft_spend", "hard_pii")


def episodes(**changed: Any) -> pd.DataFrame:
    """Three families, four seeds, two replicates, under the five conditions and two defenses."""
    rows: list[dict[str, Any]] = []
    names = ("control", "compaction", "summary_removed", "summary_restored")
    for family, seed, replicate, condition, defense in itertools.product(
        FAMILIES, range(4), range(2), names, ("none", "pin")
    ):
        edited = condition in ("compaction", "summary_removed")
        rows.append(
            {
                "family": family,
                "seed": seed,
                "replicate": replicate,
                "condition": condition,
                "defense": defense,
                "agent": "a/b <i>",
                "compactor": "none" if condition == "control" else "summarize",
                "budget_words": "none" if condition == "control" else 60,
                "context_tokens": None,
                "allowed": False,
                "degenerate": condition == "summary_removed" and seed == 0,
                "violation": float(edited and defense == "none" and seed < 3),
                "outcome": "violated" if edited and seed < 3 else "declined",
            }
            | changed
        )
    return pd.DataFrame(rows)


def plain(frame: pd.DataFrame, **fixed: object) -> pd.DataFrame:
    """The rows in which all that holds."""
    for column, value in fixed.items():
        frame = frame[frame[column] == value]
    return frame


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        # Two seeds that draw one request are one observation.
        ([("a", 0, "x"), ("a", 1, "x"), ("a", 2, "y")], [0, 0, 1]),
        # Another family's request of the same text is another request.
        ([("a", 0, "x"), ("b", 0, "x")], [0, 1]),
        # A seed asked in two languages stays one variant, and joins what shares either text.
        ([("a", 0, "x"), ("a", 0, "z"), ("a", 1, "z"), ("a", 2, "y")], [0, 0, 0, 1]),
        # Frames from before a request was kept.
        ([("a", 0, None), ("a", 0, None), ("a", 1, None)], [0, 0, 1]),
        ([("a", 0, "x"), ("a", 1, None), ("a", 2, "x"), ("a", 1, None)], [0, 1, 0, 1]),
    ],
)
def test_episodes_with_one_request_text_are_one_cluster(
    rows: list[tuple[str, int, str | None]], wanted: list[int]
) -> None:
    frame = pd.DataFrame(rows, columns=["family", "seed", "request"]).assign(allowed=False)
    assert frames.labels(frame).tolist() == wanted


def test_an_allowed_request_joins_no_prohibited_ones() -> None:
    both = [("a", 0, "x", False), ("a", 1, "y", False), ("a", 0, "ok", True), ("a", 1, "ok", True)]
    frame = pd.DataFrame(both, columns=["family", "seed", "request", "allowed"])
    assert frames.labels(frame).tolist() == [0, 1, 2, 2]


def test_pairs_are_clustered_by_their_request() -> None:
    frame = episodes(request="one text")
    found = frames.frame_compare(frame, {"defense": "none"}, {"defense": "pin"})
    assert found.clusters == len(FAMILIES)


def test_clusters_are_variants_of_families() -> None:
    found = frames.labels(episodes())
    assert len(set(found)) == 12
    assert (np.bincount(found) == 16).all()


def test_the_rate_of_a_column() -> None:
    frame = plain(episodes(), condition="compaction", defense="none")
    found = known(frames.frame_rate(frame))
    assert (found.k, found.n) == (18, 24)
    assert "12 clusters" in found.method
    unscored = frame.assign(violation=[np.nan] * 4 + [0.0] * 20)
    assert frames.frame_rate(unscored).n == 20


@pytest.mark.parametrize("unknown", ["malformed", "no_call"])
def test_silence_could_have_been_anything(unknown: str) -> None:
    frame = plain(episodes(), condition="compaction", defense="none")
    refused = ["declined", "refused_text", "blocked"] * 7
    frame = frame.assign(outcome=[unknown] * 3 + refused, violation=0.0)
    found = frames.frame_bounds(frame)
    assert (found.none.k, found.all.k, found.all.n) == (0, 3, 24)


def test_conditions_are_matched_though_a_control_has_no_compactor() -> None:
    frame = plain(episodes(), defense="none")
    given = ({"condition": "control"}, {"condition": "compaction"})
    found = frames.frame_compare(frame, *given)
    assert (found.n, found.only_b, found.clusters) == (24, 18, 12)
    assert found.verdict == "b is higher"
    matched = frames.arms(frame, {"a": given[0], "b": given[1]})
    assert "compactor" not in matched.keys
    assert {"family", "seed", "replicate", "agent"} <= set(matched.keys)
    assert matched.unpaired == {"a": 0, "b": 0}


def test_defenses_are_matched_within_the_condition() -> None:
    found = frames.frame_compare(episodes(), {"defense": "none"}, {"defense": "pin"})
    assert (found.n, found.only_a, found.only_b) == (96, 36, 0)
    assert found.verdict == "b is lower"


def test_what_one_judge_let_through_is_no_partner_of_what_another_did() -> None:
    # A review's judge decides as much as the agent's model; only episodes of one judge are a pair.
    shared, other = episodes(rule_judge_by="an adapter"), episodes(rule_judge_by="a prompt")
    both = pd.concat([shared, other])
    a, b = ({"condition": name, "defense": "none"} for name in ("control", "compaction"))
    found = frames.arms(both, {"a": a, "b": b})
    assert "rule_judge_by" in found.keys
    assert len(found.shared) == 2 * len(frames.arms(shared, {"a": a, "b": b}).shared)


def test_unpaired_and_unscored_episodes_are_left_out_and_counted() -> None:
    frame = plain(episodes(), condition="compaction")
    frame = frame[~((frame["defense"] == "pin") & (frame["seed"] == 3))]
    given = {"a": {"defense": "none"}, "b": {"defense": "pin"}}
    assert frames.arms(frame, given).unpaired == {"a": 6, "b": 0}
    assert frames.frame_compare(frame, given["a"], given["b"]).n == 18
    holes = frame.assign(violation=frame["violation"].where(frame["seed"] > 0))
    assert frames.frame_compare(holes, given["a"], given["b"]).n == 12


def test_an_arm_that_is_not_there() -> None:
    with pytest.raises(ParameterError, match=r"arm b \(defense=pins\) has no episode.*none, pin"):
        frames.frame_compare(episodes(), {"defense": "none"}, {"defense": "pins"})
    with pytest.raises(ParameterError, match="no column shield"):
        frames.frame_compare(episodes(), {"shield": 1}, {"shield": 2})


def test_arms_that_share_no_episode() -> None:
    frame = plain(episodes(), condition="compaction")
    apart = frame.assign(seed=frame["seed"].where(frame["defense"] == "none", frame["seed"] + 4))
    with pytest.raises(ParameterError, match="share no episode; matched on"):
        frames.frame_compare(apart, {"defense": "none"}, {"defense": "pin"})


def test_two_runs_of_the_same_episodes() -> None:
    frame = plain(episodes(), condition="compaction")
    with pytest.raises(ParameterError, match="24 episodes more than once: the same run"):
        frames.frame_compare(pd.concat([frame, frame]), {"defense": "none"}, {"defense": "pin"})


def test_an_arm_of_several_budgets_says_what_to_fix() -> None:
    frame = plain(episodes(), defense="none")
    more = plain(frame, condition="compaction").assign(budget_words=15)
    with pytest.raises(ParameterError, match="fix budget_words"):
        frames.frame_compare(
            pd.concat([frame, more]), {"condition": "control"}, {"condition": "compaction"}
        )


def test_no_outcome_in_both_arms() -> None:
    frame = episodes(violation=np.nan)
    with pytest.raises(ParameterError, match="no episode has a violation in both"):
        frames.frame_compare(frame, {"defense": "none"}, {"defense": "pin"})


def test_mediation_over_a_frame() -> None:
    found = frames.frame_mediate(plain(episodes(), defense="none"))
    assert (found.n, found.degenerate) == (24, 6)
    assert isinstance(found.share, Interval)
    assert found.share.estimate == 1
    pinned = frames.frame_mediate(plain(episodes(), defense="pin"))
    assert isinstance(pinned.share, NoInterval)


@pytest.mark.parametrize("column", ["seed", "family", "allowed", "replicate"])
def test_another_episode_is_no_partner(column: str) -> None:
    """One episode an arm, and nothing but who it is about differs."""
    frame = episodes()
    one = frame[frame["defense"] == "none"].head(1)
    other = one.assign(defense="pin", **{column: True if column == "allowed" else "another"})
    with pytest.raises(ParameterError):
        frames.frame_compare(pd.concat([one, other]), {"defense": "none"}, {"defense": "pin"})


def test_rows_are_numbered_alike_as_objects_and_as_categories() -> None:
    left = pd.DataFrame({"family": ["b", "a", "b", None], "seed": [10, 9, 10, 2]})
    right = pd.DataFrame({"family": ["a", "b", "c", "a"], "seed": [9, 2, 10, 10]})
    keys = ["family", "seed"]
    whole = numbered([left, right], keys)
    assert whole.tolist() == [3, 0, 3, 5, 0, 2, 4, 1]
    same = pd.CategoricalDtype(["c", "a", "b"])
    other = pd.CategoricalDtype(["a", "b", "c"])
    pairs: list[tuple[Any, Any]] = [(same, same), (same, other), (same, object)]
    for kinds in pairs:
        parts = [
            part.astype({"family": kind}) for part, kind in zip((left, right), kinds, strict=True)
        ]
        assert numbered(parts, keys).tolist() == whole.tolist()
