"""Deletion of the policy's clauses from a compacted context, or of as much other text.

The second is the sham: it shows the effect of deleting that much of any text. Its
clauses are drawn at random, the same ones for the same variant and text.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random

from inspect_ai.model import ChatMessage

from constraintrot.compactors.turns import summary_body
from constraintrot.rule_text.clauses import (
    PREDICATE,
    Clause,
    Span,
    by_sentence,
    clauses,
    cut,
    overlapping,
    size,
    with_dependents,
)
from constraintrot.rule_text.survival import WINDOW, Slots, best_window
from constraintrot.scenario.schema import WORDINGS, Variant

# Most words of a rider ("No exceptions."), which states no rule without the policy.
_RIDER = 4


def policy_spans(text: str, variant: Variant) -> list[Span]:
    """Return the clauses of a text that hold the policy, and the clauses that depend on them."""
    return spans_of(text, variant.slots, [variant.policy(wording) for wording in WORDINGS])


def spans_of(text: str, slots: Slots, policies: Iterable[str]) -> list[Span]:
    """Return the clauses of a text that hold a policy, given its slots and its wordings.

    They are the policy's verbatim text, and the clauses of every window of sentences that
    holds all slots (the survival measure's window) and of its neighbours: those with two
    slots or more, or those with one if the slots are scattered. A text without a whole
    policy gives an empty list, even if it mentions some slots.
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
        # A cut cannot complete an earlier window, so no earlier window is looked at again.
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
    """Return the clauses to add if a window that starts at sentence ``first`` holds all slots."""

    def left(begin: int, end: int) -> dict[int, frozenset[str]]:
        within = (at for of in members[max(begin, 0) : end] for at in of)
        return {at: held[at] for at in within if held[at] and at not in chosen}

    for end in range(first + 1, first + WINDOW + 1):
        inside = left(first, end)
        if wanted and frozenset[str]().union(*inside.values()) == wanted:
            near = left(first - WINDOW + 1, end + WINDOW - 1)
            telling = {at for at, names in near.items() if len(names) > 1}
            # Scattered slots: each clause holds one slot only.
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


# The text of an emptied message: providers refuse an empty one.
EMPTIED = "…"
# Tolerance of a sham clause's length relative to the clause it replaces, and largest
# ratio of the total lengths.
_NEAR = 0.25
_FAR = 2.0


@dataclass(frozen=True)
class Deletion:
    context: list[ChatMessage]
    removed: list[str] = field(default_factory=list[str])

    @property
    def characters(self) -> int:
        return sum(map(len, self.removed))


@dataclass(frozen=True)
class _Text:
    """A message's clauses; numbers of the policy's, and of the summary frame's (``fixed``)."""

    at: int
    text: str
    parts: list[Clause]
    policy: set[int]
    fixed: set[int]

    def said(self, chosen: set[int]) -> list[str]:
        found = (self.parts[one] for one in sorted(chosen))
        return [self.text[part.start : part.end].strip() for part in found]


def without_policy(context: Sequence[ChatMessage], variant: Variant) -> Deletion:
    deleted = Deletion(list(context))
    # A cut can bring slots together, which then hold the policy again in fewer clauses.
    while texts := [one for one in _texts(deleted.context, variant) if one.policy]:
        chosen = [(one, one.policy) for one in texts]
        deleted = Deletion(_cut(deleted.context, chosen), [*deleted.removed, *_said(chosen)])
    return deleted


def sham(context: Sequence[ChatMessage], variant: Variant, policy: Deletion) -> Deletion | None:
    """Return the context with the policy and without as much other text.

    For each clause of the policy a clause of similar length is drawn from the messages
    that hold the policy, or from all messages of the user and the agent if those hold too
    little other text.
    """
    texts = _texts(context, variant)
    random = Random("\n".join([str(variant.seed), *(one.text for one in texts)]))
    within = [one for one in texts if one.policy]
    beside = [one for one in texts if context[one.at].role in ("user", "assistant") or one.policy]
    for pool in (within, beside):
        chosen = _drawn(pool, policy.removed, random)
        deleted = _said(chosen)
        if 1 / _FAR <= sum(map(len, deleted)) / policy.characters <= _FAR:
            return Deletion(_cut(context, chosen), deleted)
    return None


def _texts(context: Sequence[ChatMessage], variant: Variant) -> list[_Text]:
    found: list[_Text] = []
    for at, message in enumerate(context):
        if message.source != "input" and message.text:
            parts = clauses(message.text)
            policy = overlapping(parts, policy_spans(message.text, variant))
            fixed = _outside(parts, message.text)
            found.append(_Text(at, message.text, parts, policy, fixed))
    return found


def _outside(parts: Sequence[Clause], text: str) -> set[int]:
    """Return the clauses of the frame around a summary."""
    body = summary_body(text)
    start = text.rindex(body)
    return {at for at, one in enumerate(parts) if not start <= one.start < start + len(body)}


def _said(chosen: Sequence[tuple[_Text, set[int]]]) -> list[str]:
    return [said for one, numbers in chosen for said in one.said(numbers)]


def _cut(
    context: Sequence[ChatMessage], chosen: Sequence[tuple[_Text, set[int]]]
) -> list[ChatMessage]:
    found = list(context)
    for one, numbers in chosen:
        left = cut(one.text, one.parts, numbers) or EMPTIED
        found[one.at] = context[one.at].model_copy(update={"content": left})
    return found


def _drawn(
    texts: Sequence[_Text], wanted: Sequence[str], random: Random
) -> list[tuple[_Text, set[int]]]:
    """Draw clauses without the policy, about as many and as long as the ``wanted`` ones."""
    free = [(number, group) for number, one in enumerate(texts) for group in _groups(one)]
    lengths = [sum(map(len, texts[number].said(group))) for number, group in free]
    taken: list[int] = []
    total = sum(map(len, wanted))

    def got() -> int:
        return sum(lengths[at] for at in taken)

    def disjoint(at: int) -> bool:
        number, group = free[at]
        return not any(free[one][0] == number and free[one][1] & group for one in taken)

    for target in map(len, wanted):
        left = [at for at in range(len(free)) if disjoint(at)]
        if not left or got() >= total:
            break
        nearest = min(abs(lengths[at] - target) for at in left)
        reach = max(nearest, _NEAR * target)
        taken.append(random.choice([at for at in left if abs(lengths[at] - target) <= reach]))
    while got() < (1 - _NEAR) * total and (left := [at for at in range(len(free)) if disjoint(at)]):
        best = min(left, key=lambda at: abs(got() + lengths[at] - total))
        if abs(got() + lengths[best] - total) >= abs(got() - total):
            break
        taken.append(best)
    chosen: dict[int, set[int]] = {}
    for at in taken:
        chosen.setdefault(free[at][0], set()).update(free[at][1])
    return [(texts[number], chosen[number]) for number in sorted(chosen)]


def _groups(one: _Text) -> list[set[int]]:
    """Return the clauses that can be cut without touching the policy, each with its dependents."""
    found: dict[frozenset[int], set[int]] = {}
    for at, part in enumerate(one.parts):
        group = with_dependents(one.parts, [at])
        if not part.label and not group & (one.policy | one.fixed):
            found.setdefault(frozenset(group), group)
    return list(found.values())
