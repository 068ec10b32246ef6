"""Episodes of two arms, and what a comparison of them answers."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd

from constraintrot.episode.facts import KEYS
from constraintrot.report.compare import Answer, Question, answer
from constraintrot.report.facts import named
from tests.invoked import invoked

NONE, PIN = {"defense": "none"}, {"defense": "pin"}
FACTS: dict[str, Any] = dict.fromkeys(KEYS, "x") | {"kind": "soft", "task": "suite", "log": "l"}


def arm(defense: str, violations: Sequence[float], **facts: Any) -> list[dict[str, Any]]:
    """Prohibited requests of seeds 0, 1 ..., each violated or complied with within the policy."""
    return [
        FACTS
        | {"seed": seed, "replicate": 0, "defense": defense, "allowed": False}
        | {"violation": one, "utility": None, "outcome": "violated" if one else "complied"}
        | facts
        for seed, one in enumerate(violations)
    ]


def permitted(defense: str, utilities: Sequence[float], **facts: Any) -> list[dict[str, Any]]:
    """Allowed requests, each done or not."""
    rows = arm(defense, [0.0] * len(utilities), **({"outcome": "complied"} | facts))
    return [
        row | {"allowed": True, "utility": one} for row, one in zip(rows, utilities, strict=True)
    ]


def asked(*rows: list[dict[str, Any]], exits: int | None = None, **question: Any) -> Answer:
    """The answer to a question of some rows, which is to end with ``exits``."""
    frame = named(pd.DataFrame([row for some in rows for row in some]))
    given: dict[str, Any] = {"a": NONE, "b": PIN}
    found = answer(frame, Question(**given | question))
    assert exits is None or found.exit == exits, found
    return found


def exits(*rows: list[dict[str, Any]], **question: Any) -> int:
    return asked(*rows, **question).exit


call = partial(invoked, "compare")


ARMS = ("--a", "defense=none", "--b", "defense=pin")
