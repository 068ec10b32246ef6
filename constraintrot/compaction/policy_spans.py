"""The spans of a text that hold the policy, clause by clause, which a counterfactual takes out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from constraintrot.rule_text.clause_words import PREDICATE
from constraintrot.rule_text.clauses import (
    Clause,
    Span,
    by_sentence,
    clauses,
    overlapping,
    size,
    with_dependents,
)
from constraintrot.rule_text.survival import WINDOW, Slots, best_window
from constraintrot.scenario.schema import WORDINGS, Variant

# A rider ("No exceptions.") has at most so many words, and is no rule without the policy.
_RIDER = 4


def policy_spans(text: str, variant: Variant) -> list[Span]:
    """The clauses of a text that hold the policy, with those that cannot stand without them.

    Args:
        text: of one message.
        variant: whose policy, in any of its wordings.
    """
    return spans_of(text, variant.slots, [variant.policy(wording) for wording in WORDINGS])


def spans_of(text: str, slots: Slots, policies: Iterable[str]) -> list[Span]:
    """The same for a policy by its slots and its own words.

    Where all slots are in a window of sentences, as the measure of survival has
    it, these are the clauses of that window and of its neighbours that hold two
    slots, or all that hold one where the slots are scattered, and the policy's
    own text word for word. A text that holds no whole policy has none, whatever
    it mentions.
    """
    stated = [found for policy in policies for found in _verbatim(text, policy)]
    if not stated and (not slots or len(best_window(text, slots)) < len(slots)):
        return []
    parts = clauses(text)
    held = [best_window(text[part.start : part.end], slots) for part in parts]
    chosen = overlapping(parts, stated)
    members = by_sentence(parts)
    first = 0
    while first < len(members):
        more = _window(members, held, chosen, first, frozenset(slots))
        chosen |= with_dependents(parts, more)
        # What is cut completes no window before it, so none is looked at twice.
        first += not more
    return [
        Span(parts[at].start, parts[at].end)
        for at in sorted(chosen | _riders(text, parts, held, chosen))
    ]


def _verbatim(text: str, policy: str) -> list[Span]:
    pattern = re.compile(r"\s+".join(map(re.escape, policy.split())))
    return [Span(*match.span()) for match in pattern.finditer(text)] if policy.split() else []


def _window(
    members: Sequence[Sequence[int]],
    held: Sequence[frozenset[str]],
    chosen: set[int],
    first: int,
    wanted: frozenset[str],
) -> set[int]:
    """Return what else to cut if the window of sentences from a first one holds all slots."""

    def left(begin: int, end: int) -> dict[int, frozenset[str]]:
        within = (at for of in members[max(begin, 0) : end] for at in of)
        return {at: held[at] for at in within if held[at] and at not in chosen}

    for end in range(first + 1, first + WINDOW + 1):
        inside = left(first, end)
        if wanted and frozenset[str]().union(*inside.values()) == wanted:
            near = left(first - WINDOW + 1, end + WINDOW - 1)
            telling = {at for at, names in near.items() if len(names) > 1}
            # Scattered: a slot a clause, and no clause that says more than the others.
            return telling if telling & set(inside) else telling | set(inside)
    return set()


def _riders(
    text: str, parts: Sequence[Clause], held: Sequence[frozenset[str]], chosen: set[int]
) -> set[int]:
    """Short sentences right after the policy that only stress it."""
    found: set[int] = set()
    for at in sorted(chosen):
        if at + 1 >= len(parts) or at + 1 in chosen or parts[at + 1].sentence == parts[at].sentence:
            continue
        said = text[parts[at + 1].start : parts[at + 1].end]
        same_line = "\n" not in text[parts[at].start : parts[at].end]
        if same_line and held[at + 1] == {"negation"} and size(said) <= _RIDER:
            found |= set() if PREDICATE.search(said) else {at + 1}
    return found
