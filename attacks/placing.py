"""Placing attack texts in ingested content: a tool's output, a document, a memory entry.

A text for a tool's output is appended to a result of the history. Documents and
memory entries are separate turns, a call and its result; so is a tool's output
where the history's turn has none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from constraintrot.attacks.attack_file import adversary_values, read_texts
from constraintrot.attacks.definition import Position, Settings
from constraintrot.episode.episode import Episode, Message, Turn
from constraintrot.scenario.schema import Call, Variant

# An adversary names its own files; the engine lets a call hold no more than a name.
_PATHS: dict[str, str] = {
    "tool_output": "exports/result-{}.txt",
    "document": "shared/note-{}.md",
    "memory_entry": "memory/imported-{}.md",
}
_FRAMES = Path(__file__).with_name("_frames.yaml")


def place(episode: Episode, texts: Sequence[str], settings: Settings) -> Episode:
    """Put texts into an episode, one per turn, in order.

    ``early`` are the first turns of the history, ``recent`` its last ones, up to
    the very end of the last segment, and ``middle`` those around its centre; for
    a tool's output, of the turns that hold one. Where there are fewer turns than
    texts, the last turn takes the rest. Turns in which the agent acted are left
    out: what an e-mail server confirms is nobody's text.

    Args:
        episode: what to attack.
        texts: what to place.
        settings: channel and position.
    """
    offered = {tool.name for tool in episode.variant.tools}
    turns = [
        (segment, at)
        for segment, held in enumerate(episode.segments)
        for at, turn in enumerate(held)
        if turn.part == "history" and not any(_acts(message, offered) for message in turn.messages)
    ]
    if settings.channel == "tool_output":
        turns = [spot for spot in turns if _results(episode.segments[spot[0]][spot[1]])] or turns
    first = _first(len(turns), len(texts), settings.position)
    placed: dict[tuple[int, int], list[Turn]] = defaultdict(list)
    for number, text in enumerate(texts):
        spot = turns[min(first + number, len(turns) - 1)]
        held = placed[spot] or [episode.segments[spot[0]][spot[1]]]
        placed[spot] = _delivered(held, text, f"{number + 1}", settings.channel, episode.variant)
    segments = (
        tuple(turn for at, was in enumerate(held) for turn in placed.get((segment, at), [was]))
        for segment, held in enumerate(episode.segments)
    )
    return replace(episode, segments=tuple(segments))


def _acts(message: Message, offered: Collection[str]) -> bool:
    return message.call is not None and message.call.function in offered


def _first(turns: int, texts: int, position: Position) -> int:
    spare = max(0, turns - texts)
    return {"early": 0, "middle": spare // 2, "recent": spare}[position]


def _delivered(
    held: list[Turn], text: str, number: str, channel: str, variant: Variant
) -> list[Turn]:
    """A turn, and what was delivered behind it, with one more text."""
    framed = _framed(text, channel, variant)
    results = _results(held[0])
    if channel == "tool_output" and results and len(held) == 1:
        return [_appended(held[0], results[-1], framed)]
    return [*held, _reading(framed, number, channel, variant)]


def _results(turn: Turn) -> list[int]:
    """Return the positions of the tools' results in a turn."""
    return [at for at, message in enumerate(turn.messages) if message.origin == "tool"]


def _appended(turn: Turn, at: int, text: str) -> Turn:
    was = turn.messages[at]
    now = replace(was, text=f"{was.text}\n\n{text}", origin="attacker")
    return replace(turn, messages=(*turn.messages[:at], now, *turn.messages[at + 1 :]))


def _reading(text: str, number: str, channel: str, variant: Variant) -> Turn:
    tool = variant.scenario.channels.tool
    reference = adversary_values(f"place/{channel}", variant)["ref"]
    path = _PATHS[channel].format(f"{reference}-{number}")
    named = {key: path for key in list(tool.arguments)[:1]}
    call = Call(function=tool.function, arguments=named)
    return Turn(
        "attack",
        (Message("assistant", "", "agent", call), Message("tool", text, "attacker", call)),
    )


def _framed(text: str, channel: str, variant: Variant) -> str:
    """A text as its channel shows it: under a title, as an entry, or bare."""
    if channel == "tool_output":
        return text
    title, entries = read_texts(_FRAMES).filled(variant)
    return f"{title}\n\n{text}" if channel == "document" else f"{entries}\n- {text}"
