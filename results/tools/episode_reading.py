"""``python -m results.tools.episode_reading FAMILY``: what an agent is sent, for a human reader.

Four seeds are of one split and the next four of the other, each with another channel and
wording, so that 16 of them show every phrasing of a request, every channel and wording. Of the request's permitted twin
only what differs is shown. With ``--new``, what came before with other values is
left out, save for policies and requests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from difflib import SequenceMatcher

import click

from constraintrot.episode.episode import Message, Turn
from constraintrot.episode.staging import stage
from constraintrot.scenario.files import catalogue, load
from constraintrot.scenario.schema import (
    LOCALES,
    MESSAGE_CHANNELS,
    WORDINGS,
    Locale,
    Variant,
    Wording,
)
from constraintrot.scenario.splits import Split
from constraintrot.scenario.template import show

EXERCISED = 2
# Words of an alphabet, and of Chinese each character.
_WORDS = re.compile(r"[^\W\u3400-\u9fff]+|.", re.DOTALL)
# Read whole every time: what goes wrong there goes wrong with the values.
_ALWAYS = ("policy", "request", "permitted")


def settings(seed: int) -> tuple[Split, str, Wording]:
    """The split, channel and wording that a seed is read in."""
    # Phrasings follow each other seed by seed, four a split; so no two of these go in step.
    split: Split = "held_out" if seed // 4 % 2 else "tuning"
    return split, MESSAGE_CHANNELS[(seed + seed // 8) % 4], WORDINGS[(seed // 2 + seed // 8) % 4]


def written(variant: Variant, benign: int) -> Iterator[tuple[str, str]]:
    """An episode's parts as they are read, each with what it is.

    Args:
        variant: whose, read as ``settings`` of its seed says.
        benign: how many turns of the benign work.
    """
    _, channel, wording = settings(variant.seed)
    episode = stage(variant, policy=True, channel=channel, wording=wording, exercised=EXERCISED)
    policy = episode.policy
    follows = {turn.user for turn in variant.exercise(EXERCISED)}
    yield "opening", "\n".join(map(_line, episode.opening.messages)).replace(policy, "POLICY")
    for turn in episode.standing:
        yield "frame", _said(turn).replace(policy, "POLICY")
    yield "policy", policy
    yield "floor", variant.neutral(wording)
    turns = [turn for turn in episode.segments[0] if turn.messages[0].text in follows]
    for turn in turns:
        yield "exercised", _said(turn)
    for turn in [turn for turn in episode.segments[0] if turn not in turns][:benign]:
        yield "benign", _said(turn)
    yield "request", variant.trigger
    yield "permitted", _differing(variant.trigger, variant.allowed_trigger)
    yield "tools", ", ".join(tool.name for tool in variant.tools)


def _line(message: Message) -> str:
    return f"{message.role[0].upper()}: {message.text}"


def _masked(text: str, variant: Variant) -> str:
    """A text without its values."""
    shown = sorted({show(value) for value in variant.values.values()}, key=len, reverse=True)
    for value in shown:
        text = text.replace(value, "_")
    return text


def _said(turn: Turn) -> str:
    lines: list[str] = []
    for message in turn.messages:
        if message.role == "tool":
            lines += [f"  < {line}" for line in message.text.splitlines()]
        elif message.call is not None:
            arguments = json.dumps(message.call.arguments, ensure_ascii=False)
            lines.append(f"  > {message.call.function} {arguments}")
        else:
            lines.append(_line(message))
    return "\n".join(lines)


def _differing(one: str, other: str) -> str:
    """What a text has that another has not, the same parts as an ellipsis."""
    before, after = _WORDS.findall(one), _WORDS.findall(other)
    parts = [
        "..." if kind == "equal" else f"[{''.join(before[a:b])} -> {''.join(after[c:d])}]"
        for kind, a, b, c, d in SequenceMatcher(None, before, after).get_opcodes()
    ]
    return " ".join(parts)


@click.command()
@click.argument("family", type=click.Choice(sorted(catalogue())))
@click.option("--locale", type=click.Choice(LOCALES), default="en")
@click.option("--first", type=click.IntRange(min=0), default=0, help="The first seed.")
@click.option("--count", type=click.IntRange(min=1), default=40, help="How many seeds.")
@click.option("--benign", type=click.IntRange(min=0), default=1, help="Turns of benign work.")
@click.option("--new", is_flag=True, help="Leave out what an earlier seed of these showed.")
def main(family: str, locale: Locale, first: int, count: int, benign: int, new: bool) -> None:
    """Print the episodes of FAMILY, seed by seed."""
    shown: set[tuple[str, str]] = set()
    for seed in range(first, first + count):
        variant = load(family, locale).variant(seed, settings(seed)[0])
        click.echo(f"== {family}.{locale} {seed} {' '.join(settings(seed))}")
        for what, text in written(variant, benign):
            seen = what, _masked(text, variant)
            if not new or what in _ALWAYS or seen not in shown:
                click.echo(f"[{what}] {text}")
            shown.add(seen)


if __name__ == "__main__":
    main()
