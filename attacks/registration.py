"""The registry of attacks, the two ways to add one, and the placing of its texts.

An attack is a YAML file, or Python. A text for a tool's output is appended to a result of the
history. Documents and memory entries are separate turns, a call and its result; so is a tool's
output if the history's turn has none.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from constraintrot.attacks.attack_file import (
    AttackFile,
    adversary_values,
    read_attack_file,
    read_texts,
)
from constraintrot.attacks.definition import (
    POSITIONS,
    SURFACES,
    Apply,
    Attack,
    Knowledge,
    Position,
    Settings,
)
from constraintrot.compactors import RECENT_TURNS
from constraintrot.components import ComponentRegistry
from constraintrot.episode.channels import CHANNELS
from constraintrot.episode.episode import Episode, Message, Turn
from constraintrot.errors import DuplicateNameError, EpisodeError
from constraintrot.scenario.schema import Call, Variant

# Names of an adversary's files; an added call may hold only a name.
_PATHS: dict[str, str] = {
    "tool_output": "exports/result-{}.txt",
    "document": "shared/note-{}.md",
    "memory_entry": "memory/imported-{}.md",
}
_FRAMES = Path(__file__).with_name("_frames.yaml")


def place(episode: Episode, texts: Sequence[str], settings: Settings) -> Episode:
    """Put texts into an episode, one per turn, in order.

    ``early`` are the first turns of the history, ``recent`` its last ones, up to the very end of
    the last segment, and ``middle`` those around its centre; a tool's output goes into turns that
    hold one, if that is recent enough. If there are fewer turns than texts, the last turn takes
    the rest. Turns in which the agent acted are left out, because an adversary does not write the
    confirmation of an act.

    Raises:
        EpisodeError: the agent acted in every turn of the history.
    """
    offered = {tool.name for tool in episode.variant.tools}
    turns = [
        (segment, at)
        for segment, held in enumerate(episode.segments)
        for at, turn in enumerate(held)
        if turn.part == "history" and not any(_acts(message, offered) for message in turn.messages)
    ]
    if not turns:
        raise EpisodeError("the agent acts in every turn of this history, so no attack has a place")
    if settings.channel == "tool_output":
        spoke = [spot for spot in turns if _results(episode.segments[spot[0]][spot[1]])]
        # An older result would be summarised, and what is recent is not.
        if settings.position != "recent" or set(spoke) & set(turns[-RECENT_TURNS:]):
            turns = spoke or turns
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
    """Return a turn, and the turns delivered after it, with one more text."""
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
    """Return a text as its channel shows it: under a title, as an entry, or bare."""
    if channel == "tool_output":
        return text
    title, entries = read_texts(_FRAMES).filled(variant)
    return f"{title}\n\n{text}" if channel == "document" else f"{entries}\n- {text}"


Deliver: TypeAlias = Callable[[Episode, Settings, AttackFile], Episode]

_registered_files: set[Path] = set()


def attack(
    name: str,
    *,
    knowledge: Knowledge,
    surface: tuple[str, ...] = SURFACES,
    positions: tuple[Position, ...] = POSITIONS,
    size: int | None = None,
) -> Callable[[Apply], Apply]:
    """Register a function as an attack; its docstring's first line is the summary.

    Args:
        name: as written in ``-T attack=``.
        knowledge: the adversary's knowledge.
        surface: possible channels, the default first.
        positions: possible places in the history, the default first.
        size: default size in o200k tokens; None for an attack without a size.
    """

    def register(apply: Apply) -> Apply:
        summary = (apply.__doc__ or "").strip().partition("\n")[0]
        ATTACKS(name)(Attack(apply, surface, knowledge, summary, positions, size))
        return apply

    return register


def place_texts(episode: Episode, settings: Settings, file: AttackFile) -> Episode:
    """Place the texts of a file, one per turn, or one text of the given size.

    The texts of an attack on the store of a policy channel go into that store.
    """
    if settings.channel not in SURFACES:
        store = CHANNELS.get(settings.channel).store
        assert store is not None, "the file was checked when it was read"
        return store.added(episode, partial(file.filled, episode.variant))
    if settings.size is None:
        return place(episode, file.filled(episode.variant), settings)
    return place(episode, [file.bulk(episode.variant, settings.size)], settings)


def attack_from_file(path: Path, deliver: Deliver = place_texts) -> None:
    """Register the attack that a YAML file defines, under the file's name.

    Args:
        path: ``NAME.yaml``.
        deliver: returns the episode after the attack, from the episode, the settings and the
            file; for an attack with logic.

    Raises:
        ScenarioError: the file is missing or wrong.
        DuplicateNameError: the name is taken.
    """
    path = path.resolve()
    file = read_attack_file(path)

    def apply(episode: Episode, settings: Settings) -> Episode:
        return deliver(episode, settings, file)

    made = Attack(
        apply,
        file.channels,
        file.knowledge,
        file.summary,
        file.positions,
        file.size,
        tuple(file.locales),
        path,
    )
    try:
        ATTACKS(path.stem)(made)
    except DuplicateNameError as error:
        raise DuplicateNameError(f"attack file {path}: {error}") from error
    _registered_files.add(path)


def _built_in_file(path: Path) -> None:
    # An attack with logic was registered by the Python file beside it.
    if path.resolve() not in _registered_files:
        attack_from_file(path)


ATTACKS: ComponentRegistry[Attack] = ComponentRegistry(
    "attack", "constraintrot.attacks", "constraintrot.attacks", _built_in_file
)
