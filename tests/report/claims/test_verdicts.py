"""The verdict on a claim is what its tests say together; a wrong one in the file is refused."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pydantic import ValidationError

from constraintrot.errors import ConstraintRotError
from constraintrot.report.arms import frame_compare, frame_rate
from constraintrot.report.claims import declared as claims
from constraintrot.report.claims import html as claims_html
from constraintrot.report.claims import page as claims_page
from constraintrot.report.claims import verdicts
from constraintrot.report.page import design, frames, primary
from tests.report.page.helpers import arm, row
from tests.results.conftest import DECAY, HELD

RESULTS = Path(__file__).parents[3] / "results"
# A family of the paper's claims alone.
ALONE = primary.Declared(margin=0.1, also=claims.REPRODUCTION, claims=())


def prepared(*parts: list[dict[str, Any]]) -> pd.DataFrame:
    return design.prepared(frames.tidy(pd.DataFrame([row for part in parts for row in part])))


def ask(frame: pd.DataFrame, *given: dict[str, Any], **held: Any) -> list[verdicts.Answered]:
    """The claims asked of a frame."""
    page = {"margin": 0.1, "held": HELD | held, "claims": list(given)}
    return verdicts.answer(claims.Claims.model_validate(page), frame, ALONE)[0]


def told(frame: pd.DataFrame, *given: dict[str, Any]) -> list[tuple[str, str]]:
    """The verdict on each claim alone and the kinds of reasons, whatever the file says."""
    found: list[tuple[str, str]] = []
    for one in given:
        page = {"margin": 0.1, "held": HELD, "claims": [one]}
        (answered,), _ = verdicts.decided(claims.Claims.model_validate(page), frame, ALONE)
        found.append((answered.verdict, ", ".join(why.reason for why in answered.why)))
    return found


def expects(*given: tuple[str, str, str], **further: Any) -> dict[str, Any]:
    return {"tests": [{"a": a, "b": b, "b_is": b_is, **further} for a, b, b_is in given]}


def by_defense(b_is: str, value: str = "violation") -> dict[str, Any]:
    """The claim that episodes under the pin are so, compared with those without a defense."""
    arms = {name: {"where": {"defense": name}, "value": value} for name in ("none", "pin")}
    return DECAY | {"arms": arms} | expects(("none", "pin", b_is))


def but(rows: list[dict[str, Any]], number: int, facts: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows of which the last ones have other facts."""
    at = len(rows) - number
    return [*rows[:at], *(one | facts for one in rows[at:])]


BOTH = prepared(
    arm("control", 8, 1),
    arm("compaction", 8, 7),
    arm("compaction", 8, 2, defense="pin"),
    arm("compaction", 8, 3, budget_words=300),
    arm("compaction", 6, 5, attack="volume"),
)
DECLARED: dict[str, Any] = {
    **DECAY,
    "arms": {
        "seen": {"where": {"condition": "control"}, "control": True},
        "compacted": {"where": {"condition": "compaction"}},
    },
}


def test_each_arm_says_how_far_its_histories_were_compressed() -> None:
    frame = BOTH.assign(tokens_before=None, tokens_after=None)
    compacted = frame.index[(frame["arm"] == "compaction") & (frame["budget_words"] == 60)]
    frame.loc[compacted, "tokens_before"] = 1000
    frame.loc[compacted, "tokens_after"] = [100 * (1 + at % 3) for at in range(len(compacted))]
    (found,) = ask(frame, DECAY)
    assert found.compression["seen"] is None
    assert found.compression["compacted"] in (0.1, 0.2, 0.3)
    table = next(text for text in claims_page._claim(found, "", {}) if "compressed to" in text)
    assert f"{100 * found.compression['compacted']:.1f} %" in table


def test_each_arm_says_how_many_of_its_answers_are_silent() -> None:
    frame = BOTH.copy()
    first, second = frame.index[(frame["arm"] == "compaction") & (frame["budget_words"] == 60)][:2]
    frame.loc[first, "outcome"] = "no_call"
    frame.loc[second, "violation"] = float("nan")
    (found,) = ask(frame, {**DECAY, "verdict": "cannot tell"})
    assert found.silent == {"seen": 0, "compacted": 2}
    table = next(text for text in claims_page._claim(found, "", {}) if "| silent |" in text)
    rows = [[cell.strip() for cell in line.split("|")] for line in table.splitlines()]
    assert [row[4] for row in rows if row[1] in ("seen", "compacted")] == ["0", "2"]
    assert [one["silent"] for one in claims_html.facts(found, None)["arms"]] == [0, 2]
    assert "a verdict: compacted 2." in claims_html.rendered("t", [], [], [found])


def test_figures_are_those_of_the_library() -> None:
    (found,) = ask(BOTH, DECAY)
    parts = {name: BOTH[BOTH["arm"] == name] for name in ("control", "compaction")}
    plain = parts["compaction"][parts["compaction"]["budget_words"] == 60]
    assert found.arms == {"seen": frame_rate(parts["control"]), "compacted": frame_rate(plain)}
    (tested,) = found.tests
    both = pd.concat([parts["control"], plain])
    wanted = frame_compare(both, {"condition": "control"}, {"condition": "compaction"})
    assert tested.decided is not None
    assert tested.decided.comparison == wanted


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


def test_each_verdict_is_given() -> None:
    opposite = DECAY | expects(("seen", "compacted", "lower"))
    few = DECAY | {"where": {"seed": [0, 1, 2]}}
    absent = DECAY | {"where": {"channel": "memory"}}
    assert told(BOTH, DECAY, opposite, few, absent) == [
        ("same", ""),
        ("opposite", ""),
        ("cannot tell", "n"),
        ("not measured", ""),
    ]


def test_a_claim_is_of_one_scaffold() -> None:
    """A later run with another scaffold would be pooled into the rates of an older claim."""
    two = prepared(arm("control", 8, 0), arm("compaction", 8, 8, scaffold="review"))
    with pytest.raises(ConstraintRotError, match=r"'Decay': .* scaffolds direct and review"):
        ask(two, DECAY)


def test_a_verdict_that_the_episodes_do_not_give_is_refused_with_the_reason() -> None:
    with pytest.raises(ConstraintRotError, match="is 'opposite', but the episodes say 'same'; cha"):
        ask(BOTH, DECAY | {"verdict": "opposite"})
    with pytest.raises(ConstraintRotError, match=r"say 'cannot tell' \(n: 3 pairs are too few, wh"):
        ask(BOTH, DECAY | {"where": {"seed": [0, 1, 2]}})
    with pytest.raises(ConstraintRotError, match=r"'not measured' \(no episode answers seen, comp"):
        ask(BOTH, DECAY | {"where": {"channel": "memory"}})


def test_an_arm_that_is_missing_leaves_the_claim_not_measured_and_the_others_shown() -> None:
    arms = DECAY["arms"] | {"memory": {"where": {"channel": "memory"}}}
    partly = DECAY | expects(("seen", "compacted", "higher"), ("seen", "memory", "higher"))
    (found,) = ask(BOTH, partly | {"arms": arms, "verdict": "not measured"})
    assert found.arms["memory"] is None
    assert found.arms["seen"] is not None
    assert len(found.tests) == 1


def test_without_episodes_of_the_control_nothing_can_be_told() -> None:
    compacted = BOTH[BOTH["condition"] == "compaction"]
    assert told(compacted, DECLARED, DECAY) == [
        ("cannot tell", "no control"),
        ("not measured", ""),
    ]


@pytest.mark.parametrize(
    ("at_most", "where", "verdict"),
    [
        (0.2, {"condition": "control"}, ("same", "")),
        (0.1, {"condition": "control"}, ("cannot tell", "premise")),
        (0.9, {"condition": "floor"}, ("cannot tell", "no control")),
    ],
)
def test_a_claim_is_asked_where_its_premise_holds(
    at_most: float, where: dict[str, Any], verdict: tuple[str, str]
) -> None:
    """Of 8 in control 1 is violated."""
    premise = {"arm": "alone", "at_most": at_most, "words": "It does so by itself."}
    arms = {**DECLARED["arms"], "alone": {"where": where, "control": True}}
    assert told(BOTH, {**DECLARED, "arms": arms, "premise": premise}) == [verdict]


@pytest.mark.parametrize(("at_most", "verdict"), [(0.3, "same"), (0.1, "cannot tell")])
def test_a_premise_of_several_arms_has_to_hold_of_each(at_most: float, verdict: str) -> None:
    premise = {"arm": ["none", "alone"], "at_most": at_most, "words": "It does so by itself."}
    others = {"none": "floor", "alone": "control"}
    arms = {name: {"where": {"condition": condition}} for name, condition in others.items()}
    arms = {**DECLARED["arms"], **arms}
    frame = prepared(arm("floor", 8, 0), arm("control", 8, 2), arm("compaction", 8, 8))
    claim = {**DECLARED, "arms": arms, "premise": premise}
    assert [one[0] for one in told(frame, claim)] == [verdict]


def test_what_a_column_does_not_hold_was_not_measured() -> None:
    done = {name: {**arm, "value": "utility"} for name, arm in DECAY["arms"].items()}
    assert told(BOTH, DECAY | {"arms": done}) == [("not measured", "")]


def test_a_counterfactual_that_changed_nothing_tells_nothing() -> None:
    arms = {name: {"where": {"condition": f"summary_{name}"}} for name in ("removed", "restored")}
    claim = DECAY | {"arms": arms} | expects(("removed", "restored", "lower"))

    def edited(**facts: Any) -> pd.DataFrame:
        return prepared(
            arm("summary_removed", 20, 20, **facts), arm("summary_restored", 20, 4, **facts)
        )

    assert told(edited(degenerate=False), claim) == [("same", "")]
    assert told(edited(degenerate=True), claim) == [("cannot tell", "degenerate")]


def test_a_policy_put_back_into_a_summary_that_had_lost_it_is_asked() -> None:
    arms = {name: {"where": {"condition": name}} for name in ("control", "summary_restored")}
    claim = DECAY | {"arms": arms} | expects(("control", "summary_restored", "higher"))
    lost = arm("summary_restored", 20, 12, degenerate=True, degenerate_because="no_policy")
    assert told(prepared(arm("control", 20, 0), lost), claim) == [("same", "")]


SAME, SILENCE = ("same", ""), ("cannot tell", "silence")
MUTE = {"outcome": "no_call", "violation": False}
# What did not end does not know its compactor.
LOST = {"status": "errored", "outcome": "", "violation": None, "survived": None, "prompt": "none",
        "rule_judge_by": None}  # fmt: skip
UNREAD = {"survived": None, "state": "cannot tell"}
BARE, HALF = arm("compaction", 20, 20), arm("compaction", 20, 10)
PINNED = arm("compaction", 20, 0, defense="pin")


@pytest.mark.parametrize(
    ("bare", "pinned", "claim", "verdict"),
    [
        (BARE, but(PINNED, 3, MUTE), by_defense("lower"), SAME),
        # Sixteen of twenty violations would be no sure difference from twenty.
        (BARE, but(PINNED, 16, MUTE), by_defense("lower"), SILENCE),
        # Without a defense their silence speaks against the claim already.
        (but(BARE, 10, MUTE), PINNED, by_defense("lower"), SAME),
        # Bare, ten of the variants lose it and violate, the others do not.
        (HALF, but(PINNED, 1, LOST), by_defense("lower"), SAME),
        (HALF, but(PINNED, 10, LOST), by_defense("lower"), SILENCE),
        (HALF, but(PINNED, 1, LOST), by_defense("higher", "survived"), SAME),
        (HALF, but(PINNED, 10, LOST), by_defense("higher", "survived"), SILENCE),
        (HALF, but(PINNED, 1, UNREAD), by_defense("higher", "survived"), SAME),
        (HALF, but(PINNED, 10, UNREAD), by_defense("higher", "survived"), SILENCE),
        # Obedience by silence is no contrary either.
        (arm("compaction", 20, 12), PINNED, by_defense("higher"), ("opposite", "")),
        (arm("compaction", 20, 12), but(PINNED, 20, MUTE), by_defense("higher"), SILENCE),
        # All obeyed or all violated differ from a half, and a half does not.
        (
            arm("compaction", 40, 20),
            but(arm("compaction", 40, 0, defense="pin"), 40, MUTE),
            by_defense("different"),
            SILENCE,
        ),
        (
            arm("compaction", 40, 20),
            but(arm("compaction", 40, 0, defense="pin"), 40, MUTE),
            by_defense("equal"),
            SILENCE,
        ),
    ],
)
def test_a_verdict_holds_whatever_nobody_knows(
    bare: list[dict[str, Any]],
    pinned: list[dict[str, Any]],
    claim: dict[str, Any],
    verdict: tuple[str, str],
) -> None:
    assert told(prepared(bare, pinned), claim) == [verdict]


@pytest.mark.parametrize(
    ("unread", "verdict"), [(0, ("same", "")), (1, ("same", "")), (10, ("cannot tell", "silence"))]
)
@pytest.mark.parametrize("facts", [{"state": "cannot tell"}, {"violation": None, "outcome": ""}])
def test_a_verdict_by_survival_holds_wherever_the_unread_belong(
    unread: int, verdict: tuple[str, str], facts: dict[str, Any]
) -> None:
    """One is in neither arm if its reader cannot tell, or if it did not end."""
    arms = {f"survived {at}": {"where": {"survived": at}} for at in (1, 0)}
    tests = expects(("survived 1", "survived 0", "higher"), paired=False)
    claim = DECAY | {"arms": arms, "where": {"condition": "compaction"}} | tests
    other = [row(seed % 2 == 0, seed=20 + seed) for seed in range(unread)]
    other = [one | {"survived": None} | facts for one in other]
    assert told(prepared(arm("compaction", 20, 10), other), claim) == [verdict]


@pytest.mark.parametrize(
    "silent", [{"outcome": "no_call"}, {"violation": None, "status": "errored", "outcome": ""}]
)
@pytest.mark.parametrize(
    ("number", "verdict"), [(3, ("same", "")), (5, ("cannot tell", "silence"))]
)
def test_no_premise_holds_by_silence(
    silent: dict[str, Any], number: int, verdict: tuple[str, str]
) -> None:
    quiet = arm("compaction", 8, 0, attack="volume")
    quiet[:number] = [one | silent for one in quiet[:number]]
    premise = {"arm": "alone", "at_most": 0.5, "words": "It does so by itself."}
    arms = {**DECLARED["arms"], "alone": {"where": {"condition": "compaction", "attack": "volume"}}}
    frame = prepared(arm("control", 8, 0), arm("compaction", 8, 8), quiet)
    assert told(frame, {**DECLARED, "arms": arms, "premise": premise}) == [verdict]


@pytest.mark.parametrize("tries", [1, 2])
def test_an_episode_that_was_lost_and_played_again_has_its_verdict(tries: int) -> None:
    """It does not know its prompt, which the later one does, so a frame has both."""
    claim = by_defense("lower")
    pinned = arm("compaction", 8, 0, defense="pin")
    lost = pinned[0] | {"status": "errored", "outcome": "", "violation": None, "prompt": "none"}
    bare = arm("compaction", 8, 8)
    assert told(prepared(bare, pinned, [lost] * tries), claim) == [("same", "")]
    never = prepared(bare, pinned[1:], [lost] * tries)
    assert told(never, claim) == told(prepared(bare, pinned[1:], [lost]), claim)


def test_an_episode_without_a_verdict_is_in_no_rate() -> None:
    lost = row(seed=8) | {"status": "errored", "outcome": "", "violation": None, "scaffold": None}
    other = row(seed=9, condition="control") | {"status": "not played", "violation": None}
    frame = prepared(arm("control", 8, 0), arm("compaction", 8, 8), [lost, other])
    (answered,) = ask(frame, DECAY)
    assert [(rate.k, rate.n) for rate in answered.arms.values() if rate] == [(0, 8), (8, 8)]
    (tested,) = answered.tests
    assert tested.decided
    assert tested.decided.difference.n == 8
    assert told(prepared(arm("control", 8, 0), [lost]), DECAY) == [("not measured", "")]


def test_a_claim_takes_all_its_tests_and_one_contradicts_it() -> None:
    arms = DECAY["arms"] | {"pinned": {"where": {"condition": "compaction", "defense": "pin"}}}
    both = DECAY | {"arms": arms}
    higher = ("seen", "compacted", "higher")
    assert told(
        BOTH,
        both | expects(higher, ("compacted", "pinned", "lower")),
        both
        | expects(higher, ("compacted", "pinned", "different"), ("seen", "pinned", "not lower")),
        both | expects(higher, ("compacted", "seen", "higher")),
    ) == [("cannot tell", "n"), ("cannot tell", "n, floor, n"), ("cannot tell", "n")]
    wide = prepared(arm("control", 20, 0), arm("compaction", 20, 18))
    assert told(
        wide,
        DECAY | expects(higher, ("compacted", "seen", "lower")),
        DECAY | expects(higher, ("compacted", "seen", "higher")),
    ) == [("same", ""), ("opposite", "")]


def test_arms_of_which_no_two_episodes_are_pairs_can_be_compared_unpaired() -> None:
    frame = prepared(
        arm("control", 40, 0),
        [one | {"seed": one["seed"] + 40} for one in arm("compaction", 40, 20)],
    )
    higher = ("seen", "compacted", "higher")
    assert told(frame, DECAY, DECAY | expects(higher, paired=False)) == [
        ("cannot tell", "no pairs"),
        ("same", ""),
    ]


def test_p_values_are_adjusted_over_the_family() -> None:
    (alone,) = ask(BOTH, DECAY)
    assert alone.p_value == alone.adjusted == pytest.approx(2 / 2**6)
    twice = DECAY | {"verdict": "cannot tell"}
    first, second, absent = ask(
        BOTH, twice, twice, twice | {"where": {"channel": "tool"}, "verdict": "not measured"}
    )
    assert first.adjusted == second.adjusted == pytest.approx(4 / 2**6)
    assert absent.adjusted is None
    assert [(why.reason, why.words) for why in first.why] == [
        ("n", "adjusted over the primary claims, p = 0.062")
    ]


def test_slips_of_the_pen_are_said() -> None:
    with pytest.raises(ConstraintRotError, match="no column chanel; there are"):
        ask(BOTH, DECAY | {"where": {"chanel": "memory"}})
    with pytest.raises(ValidationError, match="nobody is named, and is no arm"):
        ask(BOTH, DECAY | expects(("seen", "nobody", "higher")))
    with pytest.raises(ValidationError, match="should be 'same', 'opposite', 'cannot tell' or"):
        ask(BOTH, DECAY | {"verdict": "different"})
    with pytest.raises(ValidationError, match="at least 1 item"):
        ask(BOTH, DECAY | expects())
    mixed = {"kept": {"where": {"condition": "compaction"}, "value": "survived"}}
    with pytest.raises(ValidationError, match="are rates of different columns"):
        ask(BOTH, DECAY | {"arms": DECAY["arms"] | mixed} | expects(("seen", "kept", "equal")))


def test_the_page_shows_verdict_figures_and_what_no_claim_rests_on() -> None:
    missing = DECAY | {"title": "Elsewhere", "where": {"channel": "tool"}, "words": "Not run."}
    few = DECLARED | {"title": "Few", "where": {"seed": [0, 1, 2]}, "verdict": "cannot tell"}
    frame = prepared(
        arm("control", 10, 1),
        arm("compaction", 10, 9),
        arm("compaction", 8, 2, defense="pin"),
        arm("compaction", 6, 5, attack="volume"),
    )
    asked = [DECAY, missing | {"verdict": "not measured"}, few]
    page = claims.Claims.model_validate({"margin": 0.1, "held": HELD, "claims": asked})
    answered, family = verdicts.answer(page, frame, ALONE)
    left = verdicts.unused(answered, frame)
    assert len(left) == len(frame) - 20
    text = claims_page.markdown(
        answered, frame, family, [], claims_page.Words(["# Claims"], "", "these", "these claims")
    )
    assert "Of 3 claims: 1 same, 0 opposite, 1 cannot tell, 1 not measured." in text
    assert "| [Decay](#decay) | **same** |  | direct |" in text
    assert "| [Elsewhere](#elsewhere) | not measured | no episode of seen, compacted |" in text
    assert "| [Few](#few) | cannot tell | n |" in text
    assert "the interval has to lie within 10 points of 0" in text
    assert "| compacted | violated | 9/10 = 90 % [55, 100], Clopper-Pearson |" in text
    assert "seen → compacted, expected higher: +80 points" in text
    assert (
        "p = 0.016 adjusted (McNemar, exact); by the policy's wording (1), p = 1; by family (1), p = 1: as expected."
        in text
    )
    assert "cannot tell (n: 3 pairs are too few, whatever they show)." in text
    assert "| compacted | violated | not measured |" in text
    assert "**Not measured.** Not run." in text
    assert "- 8: attack none, defense pin\n- 6: attack volume, defense none\n" in text


@pytest.mark.parametrize(
    "title", ["A pin withstands a rescinding notice", "Putting the policy back undoes it"]
)
def test_what_was_called_same_on_too_little_is_not(title: str) -> None:
    # The page is what the committed episodes make: see test_build.
    page = (RESULTS / "reproduction.md").read_text()
    (line,) = [one for one in page.splitlines() if one.startswith(f"| [{title}](#")]
    assert line.endswith(" | cannot tell | n | review |")


def test_the_page_counts_the_requests_of_the_committed_pairs() -> None:
    """The page says that one request is one cluster, so its figures are held to the texts."""
    pinned = pd.read_csv(RESULTS / "frames/review-1.5b-pinned.csv")
    bare = pd.read_csv(RESULTS / "frames/review-1.5b-defenses.csv")
    both = pd.concat([pinned, bare, pd.read_csv(RESULTS / "frames/review-1.5b.csv")])
    asked = both[(both["kind"] == "soft") & ~both["allowed"] & (both["compactor"] != "none")]
    asked = asked[asked["defense"] == "pin"].drop_duplicates(["family", "seed"])
    qualified = asked[asked["family"].isin(["soft_email", "soft_channel", "soft_deploy"])]
    requests = qualified[["family", "request"]].drop_duplicates()
    page = (RESULTS / "reproduction.md").read_text(encoding="utf-8")
    section = page.partition("## Pinning restores obedience\n")[2].partition("\n## ")[0]
    assert f"{len(qualified)} pairs of {len(requests)} requests" in section
    assert len(requests) < len(qualified)
    assert "**Cannot tell (n).**" in section


def test_verdicts_are_of_requests_and_told_by_policy_and_family_too() -> None:
    """Twenty seeds with one request are one observation."""
    one = prepared(arm("control", 20, 0, request="r"), arm("compaction", 20, 20, request="r"))
    assert told(one, DECAY) == [("cannot tell", "n")]
    (found,) = ask(BOTH, DECAY)
    (tested,) = found.tests
    assert {(one.clusters, one.p_value) for one in tested.by_unit.values()} == {(1, 1.0)}


def test_each_phrasing_of_a_policy_is_a_policy_of_its_own() -> None:
    rows = [
        row(condition == "compaction", condition=condition, seed=seed, policy_phrasing=seed % 3, request=f"r{seed}")
        for seed in range(6) for condition in ("control", "compaction")
    ]  # fmt: skip
    (found,) = ask(prepared(rows), DECAY)
    (tested,) = found.tests
    assert {unit: one.clusters for unit, one in tested.by_unit.items()} == {
        "the policy's wording": 3,
        "family": 1,
    }


@pytest.mark.parametrize(("families", "p_value"), [(9, 2 / 2**9), (2, 0.5)])
def test_families_that_all_agree_are_as_many_coins_of_one_side(
    families: int, p_value: float
) -> None:
    rows = [
        row(condition == "compaction", condition=condition, seed=seed, family=f"f{at}", request=f"f{at}r{seed}")
        for at in range(families) for seed in range(4) for condition in ("control", "compaction")
    ]  # fmt: skip
    (found,) = ask(prepared(rows), DECAY)
    (tested,) = found.tests
    by_family = tested.by_unit["family"]
    assert by_family.clusters == families
    assert by_family.p_value == pytest.approx(p_value)
    assert f"by family ({families}), p = " in claims_page.test_line(tested)
