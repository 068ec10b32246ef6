"""Benign history: turn templates drawn out to any length without repeating.

A pure function of scenario, seed and length, so that every condition,
replicate and model gets the same turns.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random

from constraintrot.scenario.schema import History, HistoryTurn, Numbers, Variant
from constraintrot.scenario.template import Value, fill
from constraintrot.tokens import exact

# Draws of one number pool within a turn (`{{ticket}}`, `{{ticket.2}}` ...).
_DRAWS = 8


def turns(variant: Variant) -> Iterator[HistoryTurn]:
    """Benign turns of a variant, in order and without end, no two of them equal."""
    history = variant.scenario.history
    at = 0
    while True:
        order = list(range(len(history.turns)))
        Random(f"{variant.scenario.family}/{variant.seed}/order/{at}").shuffle(order)
        for template in order:
            yield _turn(variant, history, history.turns[template], at)
            at += 1


def for_tokens(variant: Variant, tokens: int) -> list[HistoryTurn]:
    """Turns up to a token target: as few as reach it, at least one.

    Args:
        variant: whose history.
        tokens: target in o200k tokens of user text, calls, results and replies.
    """
    return list(until(turns(variant), tokens))


def until(drawn: Iterator[HistoryTurn], tokens: int) -> Iterator[HistoryTurn]:
    """The next turns of a history, up to a token target: as few as reach it, at least one."""
    total = 0
    for turn in drawn:
        yield turn
        total += length(turn)
        if total >= tokens:
            return


def length(turn: HistoryTurn) -> int:
    """Tokens of a turn's texts."""
    texts = [turn.user, turn.reply]
    for call in turn.calls:
        texts += [call.function, *map(str, call.arguments.values()), call.result]
    return sum(exact(text) for text in texts)


def _turn(variant: Variant, history: History, template: HistoryTurn, at: int) -> HistoryTurn:
    drawn: dict[str, Value] = {}

    def lookup(name: str) -> Value:
        if name not in drawn:
            drawn[name] = _draw(variant, history, name, at)
        return drawn[name]

    return HistoryTurn.model_validate(fill(template.model_dump(), lookup))


def _draw(variant: Variant, history: History, name: str, at: int) -> Value:
    stem, _, suffix = name.partition(".")
    which = int(suffix or 1) - 1
    if stem not in history.pools:
        return fill("{{" + name + "}}", variant.values)
    pool = history.pools[stem]
    key = f"{variant.scenario.family}/{variant.seed}/{stem}"
    if isinstance(pool, Numbers):
        return _number(pool, Random(key), at * _DRAWS + which)
    order = list(pool)
    # Shuffled anew each turn; several draws within the turn differ.
    Random(f"{key}/{at}").shuffle(order)
    return order[which % len(order)]


def _number(pool: Numbers, random: Random, index: int) -> int:
    size = pool.high - pool.low + 1
    start = random.randrange(size)
    stride = random.randrange(size // 3, size // 2)
    while math.gcd(stride, size) != 1:
        stride += 1
    # A dry pool goes on above its top, so a number never comes back.
    return pool.low + (start + index * stride) % size + index // size * size
