"""``python -m results.tools.history_reading``: turns of the benign histories, for a human reader."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from random import Random

import click

from constraintrot.scenario import history
from constraintrot.scenario.files import catalogue, load
from constraintrot.scenario.schema import LOCALES, HistoryTurn, Locale

# Turns of a history among which one is drawn: about 20,000 tokens.
DEPTH = 180


def drawn(locale: Locale, turns: int, seed: int) -> Iterator[tuple[str, HistoryTurn]]:
    """Turns from the histories of a locale, each with the family, seed and place it comes from.

    Args:
        locale: whose families.
        turns: how many; the families take their turn.
        seed: of the choice.
    """
    random = Random(f"{locale}/{seed}")
    families = [family for family, locales in catalogue().items() if locale in locales]
    for number in range(turns):
        family, variant = families[number % len(families)], random.randrange(30)
        at = random.randrange(DEPTH)
        turn = next(islice(history.turns(load(family, locale).variant(variant)), at, None))
        yield f"{family}.{locale} {variant}/{at}", turn


def written(turn: HistoryTurn) -> str:
    """A turn as it is read: who says what, and each call before its result."""
    lines = [f"U: {turn.user}"]
    for call in turn.calls:
        lines.append(f"  > {call.function} {json.dumps(call.arguments, ensure_ascii=False)}")
        lines += [f"  < {line}" for line in call.result.splitlines()]
    return "\n".join([*lines, f"A: {turn.reply}"])


@click.command()
@click.option("--locale", type=click.Choice(LOCALES), default="en")
@click.option("--turns", type=click.IntRange(min=1), default=60)
@click.option("--seed", type=int, default=0)
def main(locale: Locale, turns: int, seed: int) -> None:
    """Print turns drawn at random from all families of a locale."""
    for where, turn in drawn(locale, turns, seed):
        click.echo(f"[{where}]\n{written(turn)}\n")


if __name__ == "__main__":
    main()
