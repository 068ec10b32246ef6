"""Where in a text the policy stands, clause by clause: what a counterfactual takes out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from constraintrot.grading.clauses import Clause, Span, clauses, overlapping, size, with_dependents
from constraintrot.grading.survival import WINDOW, best_window
from constraintrot.scenario.schema import WORDINGS, Variant

# A rider ("No exceptions.") has at most so many words, and is no rule without the policy.
_RIDER = 6


def policy_spans(text: str, variant: Variant) -> list[Span]:
    """The clauses of a text that hold the policy, with those that cannot stand without them.

    Where all slots of the policy stand in a window of sentences, as the measure of
    survival has it, these are the clauses of that window and of its neighbours
    that hold two slots, or all that hold one where the slots are scattered, and
    the policy's own text word for word. A text that holds no whole policy has
    none, whatever it mentions.

    Args:
        text: of one message.
        variant: whose policy.
    """
    parts = clauses(text)
    chosen = _verbatim(text, parts, variant)
    held = [best_window(text[part.start : part.end], variant.slots) for part in parts]
    while True:
        left = [frozenset() if at in chosen else names for at, names in enumerate(held)]
        more = _window(parts, left, frozenset(variant.slots))
        if not more:
            break
        chosen |= with_dependents(parts, more)
    return [
        Span(parts[at].start, parts[at].end)
        for at in sorted(_with_riders(text, parts, held, chosen))
    ]


def _verbatim(text: str, parts: Sequence[Clause], variant: Variant) -> set[int]:
    """The clauses that the policy's own text takes up, in any wording of it."""
    found: set[int] = set()
    for wording in WORDINGS:
        words = variant.policy(wording).split()
        pattern = re.compile(r"\s+".join(map(re.escape, words)))
        for match in pattern.finditer(text):
            found |= overlapping(parts, [Span(*match.span())])
    return found


def _window(
    parts: Sequence[Clause], held: Sequence[frozenset[str]], wanted: frozenset[str]
) -> set[int]:
    """What to cut of the first window of sentences that holds all slots; empty where none does."""
    if not wanted:
        return set()
    last = parts[-1].sentence if parts else -1
    for first in range(last + 1):
        for width in range(WINDOW):
            inside = [at for at, part in enumerate(parts) if 0 <= part.sentence - first <= width]
            if frozenset[str]().union(*(held[at] for at in inside)) == wanted:
                return _of_window(parts, held, inside)
    return set()


def _of_window(
    parts: Sequence[Clause], held: Sequence[frozenset[str]], inside: Sequence[int]
) -> set[int]:
    first, last = parts[inside[0]].sentence, parts[inside[-1]].sentence
    near = range(first - WINDOW + 1, last + WINDOW)
    telling = {at for at, part in enumerate(parts) if len(held[at]) > 1 and part.sentence in near}
    if telling & set(inside):
        return telling
    # Scattered: a slot a clause, and no clause that says more than the others.
    return telling | {at for at in inside if held[at]}


def _with_riders(
    text: str, parts: Sequence[Clause], held: Sequence[frozenset[str]], chosen: set[int]
) -> set[int]:
    """The same with short sentences right after them that only stress what was said."""
    found = set(chosen)
    for at in range(1, len(parts)):
        part, whole = parts[at], text[parts[at].start : parts[at].end]
        before = at - 1 in found and parts[at - 1].sentence != part.sentence
        alone = at + 1 == len(parts) or parts[at + 1].sentence != part.sentence
        if before and alone and held[at] == {"negation"} and size(whole) <= _RIDER:
            found.add(at)
    return found
