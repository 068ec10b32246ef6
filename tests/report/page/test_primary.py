"""A primary claim has one adjusted p-value, on every page; nothing else has a verdict."""

from pathlib import Path
from typing import Any

import pytest

from constraintrot.errors import ConstraintRotError
from constraintrot.report.page import compared, comparisons, design, primary
from constraintrot.report.page.qualified import NOT_GIVEN
from constraintrot.report.page.view import Missing, Table
from constraintrot.stats.exact import holm
from tests.report.page.helpers import arm, of

OTHER: dict[str, Any] = {"agent": "b/other", "summarizer": "b/other"}
FRAME = design.prepared(
    of(
        [
            *arm("control", 12, 0), *arm("compaction", 12, 9), *arm("defense_pin", 12, 3, defense="pin"),
            *arm("compaction", 12, 2, defense="spotlight"),
            *arm("control", 6, 0, agent="b/other"), *arm("compaction", 6, 6, **OTHER),
        ]
    ).frame
)  # fmt: skip
FAMILY = primary.family(primary.read(), FRAME)


def test_the_family_is_every_declared_claim_of_every_model_adjusted_together() -> None:
    assert [(one.primary, one.agent) for one in FAMILY.compared] == [
        (claim, agent)
        for claim in ("compaction", "pin", "pin under injection")
        for agent in ("a/model", "b/other")
    ]
    paired = [one.comparison for one in FAMILY.compared if one.comparison is not None]
    assert FAMILY.size == len(paired) == 3
    assert [one.adjusted for one in paired] == list(holm([one.p_value for one in paired]))


def test_a_declared_setting_counts_where_a_model_has_pairs_at_it() -> None:
    review = {"scaffold": "review"}
    frame = design.prepared(
        of(
            [
                *arm("control", 12, 6), *arm("compaction", 12, 12),
                *arm("control", 9, 0, **review), *arm("compaction", 9, 9, **review),
                *arm("control", 6, 0, agent="b/other"), *arm("compaction", 6, 6, **OTHER),
            ]
        ).frame
    )  # fmt: skip
    pairs: dict[str, list[int]] = {}
    for name, at in (("most", {}), ("declared", review)):
        declared = primary.read().model_copy(update={"at": at})
        family = primary.family(declared, frame)
        both = [family.of(agent, "control", "compaction") for agent in ("a/model", "b/other")]
        pairs[name] = [one.comparison.n for one in both if one and one.comparison]
    assert pairs == {"most": [12, 6], "declared": [9, 6]}
    said = comparisons.comparisons(family, [], dict.fromkeys(("a/model", "b/other"), NOT_GIVEN))
    (note,) = (n for b in said.blocks if isinstance(b, Table) for n in b.notes if "pairs" in n)
    assert "at review, for a model with pairs there, else at the setting with the most:" in note
    assert note.count("(none at the declared setting)") == 1
    assert "compaction of b/other: main (none at the declared setting)" in note


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ({"scaffold": "reveiw"}, "at scaffold 'reveiw', which no episode has; there are 'direct'$"),
        (
            {"context_tokens": "800"},
            "at context_tokens '800', which no episode has; there are 800$",
        ),
    ],
)
def test_a_declared_setting_that_no_episode_has_is_refused(at: dict[str, Any], said: str) -> None:
    declared = primary.read().model_copy(update={"at": at})
    with pytest.raises(ConstraintRotError, match=said):
        primary.family(declared, FRAME)


def test_a_declared_setting_that_applies_to_no_episode_is_no_fault() -> None:
    """Controls have no prompt; that no compaction was played yet is said where it is missing."""
    declared = primary.read().model_copy(update={"at": {"prompt": "tight"}})
    controls = FRAME[FRAME["arm"] == "control"]
    assert primary.family(declared, controls).size == 0


def test_a_comparison_of_the_same_episodes_has_that_p_value_whatever_it_is_called() -> None:
    """Another page's arms, in the other order and by other names."""
    mine = FRAME[(FRAME["agent"] == "a/model") & FRAME["arm"].isin(["compaction", "defense_pin"])]
    named = mine.assign(arm=mine["arm"].map({"compaction": "bare", "defense_pin": "pinned"}))
    one = FAMILY.told(compared.pair(named, compared.ALL, "pinned", "bare"))
    known = FAMILY.of("a/model", "compaction", "defense_pin")
    assert known is not None
    assert known.comparison is not None
    assert one.comparison is not None
    assert one.primary == "pin"
    assert one.comparison.adjusted == known.comparison.adjusted != one.comparison.p_value


def test_a_family_with_claims_of_another_page_is_adjusted_over_them_too_or_refused() -> None:
    also = primary.read().model_copy(update={"also": "claims.yaml"})
    with pytest.raises(ConstraintRotError, match=r"over the claims of claims\.yaml too, wh"):
        primary.family(also, FRAME)
    floor = compared.pair(FRAME, "a/model", "control", "compaction, defense spotlight")
    pin = compared.pair(FRAME, "a/model", "defense_pin", "compaction")
    assert floor.comparison is not None
    assert pin.comparison is not None
    further = [
        primary.Further("mark", floor.comparison.p_value, floor),
        primary.Further("whole", 1e-6),
        primary.Further("again", pin.comparison.p_value, pin),
    ]
    found = primary.family(also, FRAME, further)
    known = [one.comparison for one in found.compared if one.comparison is not None]
    p_values = [*(one.p_value for one in known), floor.comparison.p_value, 1e-6]
    wanted = holm(p_values)
    assert found.size == 5
    assert [one.adjusted for one in known] == wanted[:3]
    assert [one.adjusted for one in found.further] == [wanted[3], wanted[4], wanted[1]]
    told = found.told(floor)
    assert told.primary == "mark"
    assert told.comparison is not None
    assert told.comparison.adjusted == wanted[3]


@pytest.mark.parametrize("seeds", [12, 11])
def test_other_episodes_are_exploratory_and_their_p_value_is_not_adjusted(seeds: int) -> None:
    b = "compaction, defense spotlight" if seeds == 12 else "defense_pin"
    one = FAMILY.told(compared.pair(FRAME[FRAME["seed"] < seeds], "a/model", "compaction", b))
    assert one.primary == ""
    assert one.comparison is not None
    assert one.comparison.adjusted is None


def test_no_conclusion_is_drawn_from_what_is_exploratory() -> None:
    other = compared.pair(FRAME, "a/model", "compaction", "compaction, defense spotlight")
    qualifies = {"a/model": "qualifies: 7 of 9 families", "b/other": "qualification not given"}
    section = comparisons.comparisons(FAMILY, [FAMILY.told(other)], qualifies)
    first, second = (block for block in section.blocks if isinstance(block, Table))
    (missing,) = (block for block in section.blocks if isinstance(block, Missing))
    assert missing.what.startswith("primary claims: pin of b/other (no episode of defense_pin);")
    assert missing.command.endswith(
        "conditions=compaction,defense_pin,attack_inject,defense_pin_attack"
    )
    assert (first.caption, second.caption) == (comparisons.PRIMARY, comparisons.EXPLORATORY)
    assert "more violations" in [row.cells[4] for row in first.rows]
    assert first.columns[-1] == "qualifies"
    assert {(row.heads[0], row.cells[-1]) for row in first.rows} == {
        ("a/model", "7 of 9 families"), ("b/other", "qualification not given"),
    }  # fmt: skip
    assert other.comparison is not None
    assert other.comparison.verdict == "b is lower"
    assert "in words" not in second.columns
    assert second.columns[-1] == "p, not adjusted"
    assert "fewer" not in " ".join(map(str, second.rows[0].cells)).split(", 7 fewer")[1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "margin: 0.1\nclaims: [{name: x, claim: y, a: controll, b: compaction}]",
            "no arm 'controll'",
        ),
        ("margin: 0.1\nclaims: []\nalpha: 0.1", "alpha: Extra inputs are not permitted"),
        (
            "margin: 0.1\nclaims:\n" + 2 * "- {name: x, claim: y, a: control, b: compaction}\n",
            "two claims have the same name",
        ),
        ("margin: [", r"primary\.yaml:2: not YAML"),
        ("margin: 0.1\nat: {colour: red}\nclaims: []", "no setting 'colour'; there are locale, "),
    ],
)
def test_a_wrong_family_is_refused_with_its_fault(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "primary.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConstraintRotError, match=said):
        primary.read(path)
