"""A sequential verdict rests on evidence for itself, look by look."""

import pandas as pd

from constraintrot.report.claims import declared
from constraintrot.report.claims.looks import looked
from constraintrot.stats.exact import holm
from constraintrot.stats.sequential import spent
from tests.report.claims.test_verdicts import expects, prepared
from tests.report.page.helpers import row
from tests.results.conftest import HELD

SEEDS, LOOKS = 48, 4


def drawn(title: str, a: set[int], b: set[int]) -> list[dict[str, object]]:
    """Pairs of a claim, by the seeds that violate in its two arms."""
    return [
        row(seed in violated, seed=seed, condition=condition, agent=title)
        for condition, violated in (("control", a), ("compaction", b))
        for seed in range(LOOKS * SEEDS)
    ]


def claims(*titles: str) -> declared.Claims:
    arms = {name: {"where": {"condition": name}} for name in ("control", "compaction")}
    return declared.Claims.model_validate(
        {
            "margin": 0.1,
            "held": HELD,
            "claims": [
                {
                    "title": title,
                    "claim": "c",
                    "paper": "p",
                    "arms": arms,
                    "where": {"agent": title},
                }
                | expects(("control", "compaction", "higher"))
                for title in titles
            ],
        }
    )


def test_a_look_that_said_the_contrary_lends_a_verdict_nothing() -> None:
    """After two looks without a violation it is nearly the opposite, and then some violate."""
    late = [f"late {number}" for number in range(7)]
    never = [f"never {number}" for number in range(2)]
    asked = claims("one", *late, *never)
    every = set(range(LOOKS * SEEDS))
    rows = drawn("one", set(), set(range(2 * SEEDS, 2 * SEEDS + 8)))
    for title in late:
        rows += drawn(title, set(), every - set(range(2 * SEEDS)))
    for title in never:
        rows += drawn(title, *({seed for seed in every if seed % 3 == at} for at in (0, 1)))
    frame: pd.DataFrame = prepared(rows)
    sizes = {
        claim.title: [{"soft_email": SEEDS * look} for look in range(1, LOOKS + 1)]
        for claim in asked.claims
    }
    third = looked(asked, frame, sizes, 3)
    one = third.answered[0]
    (test,) = one.tests
    assert test.decided is not None
    own = spent(test.decided.p_same, 3, LOOKS)
    others = [float(answered.p_value or 1) for answered in third.answered[1:]]
    assert holm([own, *others])[0] > 0.05 >= holm([float(one.p_value or 1), *others])[0]
    assert one.verdict == "cannot tell"
    assert "one" not in third.decided
    assert third.decided.keys() >= set(late)


def test_what_only_silence_leaves_open_is_said_to_be_so() -> None:
    """Eight pairs against none are told over two claims; against a silent one they are not."""
    asked = claims("silent", "never")
    rows = [
        *drawn("silent", set(), set(range(8))),
        *drawn("never", *({seed for seed in range(SEEDS) if seed % 3 == at} for at in (0, 1))),
    ]
    quiet = [
        one | {"outcome": "no_call"}
        if (one["agent"], one["condition"], one["seed"]) == ("silent", "control", 40)
        else one
        for one in rows
    ]
    sizes = {claim.title: [{"soft_email": SEEDS}] for claim in asked.claims}
    found = looked(asked, prepared(rows), sizes, 1).answered
    assert [one.verdict for one in found] == ["same", "cannot tell"]
    found = looked(asked, prepared(quiet), sizes, 1).answered
    assert [one.verdict for one in found] == ["cannot tell", "cannot tell"]
    assert [[why.reason for why in one.why] for one in found] == [["silence"], ["n"]]
    assert found[0].adjusted is not None
    assert found[0].adjusted > 0.05 > found[0].adjusted / 2
