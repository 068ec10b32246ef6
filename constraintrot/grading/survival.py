"""The state of a variant's policy in a context; how prose is read is ``rule_text``'s."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

from constraintrot.rule_text.reader import Rule
from constraintrot.rule_text.survival import Survival
from constraintrot.rule_text.words import state_of
from constraintrot.scenario.schema import Variant, Wording


def state(texts: str | Iterable[str], variant: Variant, wording: Wording | None = None) -> Survival:
    """The state of a variant's policy in a text, or in the texts of a context.

    Args:
        texts: one text, or a context's messages; of several the best state counts.
        variant: whose policy.
        wording: in which wording it was given; any of them by default.
    """
    wordings: tuple[Wording, ...] = get_args(Wording) if wording is None else (wording,)
    given = [texts] if isinstance(texts, str) else texts
    first, *others = (variant.policy(one) for one in wordings)
    return state_of(Rule(first, variant.slots, tuple(others)), list(given))
