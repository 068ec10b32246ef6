"""The verdicts on each rule and compaction, from a reader's answers about the new contexts.

An answer of middling probability is undecided; ``SURE`` is the distance that decides.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from math import ceil
from typing import TypeAlias

from constraintrot.doctor.closest import closest
from constraintrot.doctor.findings import (
    Change,
    Compacted,
    Diagnosis,
    History,
    Outcome,
    Turn,
)
from constraintrot.rule_text.reader import Reader, Reading, Rule

# Distance of a deciding probability from even odds; chosen on the development half of
# results/doctor.md, and measured on the other half.
SURE = 0.2
# States of a rule that a user's turn lifted or changed. The local reader calls most lifted rules
# scoped or attributed.
_LIFTED = frozenset(["contradicted", "weakened", "scoped", "attributed"])
_FREE = 0.4
# Characters of a question beside text and rule, and of the pieces of a long text.
_FORM, _PIECE = 220, 6_000
Count: TypeAlias = Callable[[int], None]
"""Called with the number of characters that were read."""


async def conclude(
    found: Diagnosis, reader: Reader, count: Count = lambda size: None, *, together: bool = False
) -> None:
    """Fill in the verdicts of an observed session, in the order of its compactions.

    ``count`` receives the number of characters of each question. ``together`` asks about all turns
    between two compactions at once, for a reader that is paid per call.
    """
    await _revocations(found, reader, count, together)
    for made in found.compactions:
        asked = [one for one in found.histories if _is_open(one, found, made)]
        readings = await reader.states([_asked(one) for one in asked], made.new) if asked else []
        count(_size(asked, made.new))
        read = dict(zip([one.number for one in asked], readings, strict=True))
        for history in found.histories:
            made.changes[history.number] = _change(history, found, made, read.get(history.number))
    for history in found.histories:
        _settle(history, found)


async def _revocations(found: Diagnosis, reader: Reader, count: Count, together: bool) -> None:
    """Record the turns that lift or change rules."""
    turns = list(_turns(found.histories))
    groups = [[one] for one in turns]
    if together:
        groups = [
            list(some)
            for _, some in groupby(
                turns, lambda one: sum(made.at <= one[0].at for made in found.compactions)
            )
        ]
    for group in groups:
        histories = list({one.number: one for _, some in group for one in some}.values())
        texts = [turn.text for turn, _ in group]
        readings = await reader.states([_asked(one) for one in histories], texts)
        count(_size(histories, texts))
        for history, reading in zip(histories, readings, strict=True):
            its = [turn for turn, some in group if history in some]
            repeats = is_sure(reading) and reading.bound > 0.5
            if repeats or not is_sure(reading):
                history.heard += [(turn.at, repeats) for turn in its if repeats or turn.is_near]
            if lifts(reading):
                quoted = [turn for turn in its if reading.quote and reading.quote in turn.text]
                turn = (quoted or its)[-1]
                # If a lifted rule is lifted again, the first turn counts.
                if not is_revoked(history, found, turn.at):
                    history.revoked = turn


def characters(found: Diagnosis) -> tuple[int, int]:
    """Return the number of questions to a reader about a session, and their characters."""
    asked = [(one, [turn.text]) for turn, one in _turns(found.histories)]
    for made in found.compactions:
        open_ = [one for one in found.histories if _is_open(one, found, made)]
        asked += [(open_, list(made.new))] * bool(open_)
    return sum(len(one) for one, _ in asked), sum(_size(*one) for one in asked)


def in_force(
    history: History, found: Diagnosis, at: int, before: Compacted | None = None
) -> bool | None:
    """Return whether a rule was in the context at a place of the session; None if undecided.

    The verdicts on the compactions until that place must be known, or until ``before``, which is
    one of them.
    """
    if history.sent_by_agent:
        return True
    last, newest = _last(found, at, before), found.newest(history, at)
    if newest is None:
        return False
    if last is None or newest >= last.at:
        return True
    change = last.changes.get(history.number)
    known = change is not None and change.outcome != "cannot be told"
    return change.outcome == "survived" if change and known else None


def is_revoked(history: History, found: Diagnosis, at: int) -> bool:
    """Return whether the user had lifted a rule before a place, and not stated it again since."""
    turn = history.revoked
    if turn is None or turn.at >= at or found.is_undone(turn.at, at):
        return False
    newest = found.newest(history, at)
    return newest is None or newest <= turn.at


def is_sure(reading: Reading) -> bool:
    return reading.state != "cannot tell" and abs(reading.bound - 0.5) >= SURE


def lifts(reading: Reading) -> bool:
    """Return whether a turn lifts or changes a rule, by its reading."""
    return reading.state in _LIFTED and reading.bound < _FREE


def _last(found: Diagnosis, at: int, before: Compacted | None = None) -> Compacted | None:
    """Return the newest compaction until a place, without those that a rewind had undone."""
    made = found.compactions[: before.number - 1 if before else None]
    return next(
        (one for one in reversed(made) if one.at <= at and not found.is_undone(one.at, at)), None
    )


def _knew(history: History, found: Diagnosis, at: int) -> bool | None:
    """Return ``in_force``, but None if a turn may have repeated or lifted a rule that was lost."""
    knew, last = in_force(history, found, at), _last(found, at)
    if knew is False and last is not None:
        heard = [one for one in history.heard if one[0] < at]
        if any(not repeats or place >= last.at for place, repeats in heard):
            return None
    return knew


def _turns(histories: Sequence[History]) -> Iterator[tuple[Turn, list[History]]]:
    """Yield the turns that may lift rules, in order, with these rules."""
    turns = {turn.at: turn for one in histories for turn in one.later}
    for at in sorted(turns):
        yield turns[at], [one for one in histories if any(each.at == at for each in one.later)]


def _is_open(history: History, found: Diagnosis, made: Compacted) -> bool:
    """Return whether a rule's fate at a compaction needs a reader."""
    return (
        in_force(history, found, made.at, made) is not False
        and not history.sent_by_agent
        and history.number not in made.kept
        and made.certainty != "opaque"
        and not is_revoked(history, found, made.at)
    )


def _asked(history: History) -> Rule:
    return Rule(history.rule.text, history.rule.slots)


def _size(histories: Sequence[History], texts: Sequence[str]) -> int:
    """Return the characters that the local reader reads: each piece of text, and its questions."""
    size = sum(map(len, texts))
    rules = sum(len(one.rule.text) + _FORM for one in histories)
    return size + max(1, ceil(size / _PIECE)) * rules


def _change(history: History, found: Diagnosis, made: Compacted, reading: Reading | None) -> Change:
    before, kept = made.before.get(history.number), made.kept.get(history.number)
    old = before.found.state if before else None
    new = kept.found.state if kept else None
    if history.sent_by_agent:
        return Change("sent by the agent", old, new, before, kept)
    if in_force(history, found, made.at, made) is False:
        return Change("not there", old, new, before, kept)
    if is_revoked(history, found, made.at):
        return Change("revoked by you", old, new, before, kept)
    came_by = before or history.given
    if kept is not None:
        return Change("survived", old, new, came_by, kept)
    if reading is None:
        return Change("cannot be told", old, None, came_by)
    near = closest(history.rule.text, made.texts)
    if not is_sure(reading):
        return Change("cannot be told", old, "cannot tell", came_by, None, near, reading)
    outcome: Outcome = "survived" if reading.bound > 0.5 else "lost"
    return Change(outcome, old, reading.state, came_by, None, near, reading)


def _settle(history: History, found: Diagnosis) -> None:
    """Record a rule's first loss, its lifetime in turns, and the calls that broke it."""
    lost = next(
        (made for made in found.compactions if made.changes[history.number].outcome == "lost"), None
    )
    if lost is not None:
        history.lost_at, history.lost_time = lost.number, lost.time
        history.said_again = [line for at, line in history.stated if at >= lost.at]
    if history.given is not None:
        history.turns = (lost.turns if lost else found.turns) - history.given_turn
    history.broken = [
        one
        for one in history.broken
        if (history.sent_by_agent or found.newest(history, one.at) is not None)
        and not is_revoked(history, found, one.at)
    ]
    for one in history.broken:
        one.knew = _knew(history, found, one.at)
    if history.revoked is not None and found.is_undone(history.revoked.at):
        history.revoked = None
