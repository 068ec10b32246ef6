"""Checks of what a framework sends a model: the pins of its own hook, and the roles."""

from collections.abc import Sequence
from itertools import pairwise

from inspect_ai.model import ChatMessage, ChatMessageAssistant

from constraintrot.defenses import Defense
from constraintrot.defenses.pinning.pinned_block import PinnedBlock
from constraintrot.episode.messages import message_texts
from constraintrot.errors import EpisodeError


def framework_pins(defense: Defense) -> PinnedBlock | None:
    """Return the block that a framework's own hook pins, if the defense supplies one."""
    pins = defense.framework_pins()
    if pins is not None and not isinstance(pins, PinnedBlock):
        raise EpisodeError(
            f"{type(defense).__name__}.framework_pins gave a {type(pins).__name__}, not a PinnedBlock"
        )
    return pins


def check_pinned(pins: PinnedBlock | None, sent: Sequence[ChatMessage]) -> None:
    """Raise EpisodeError unless the pins are in the agent's input exactly once."""
    block = _block(pins)
    texts = [m.text for m in sent if m.role in ("system", "user")]
    if block and sum(text.count(block) for text in texts) != 1:
        raise EpisodeError("the pinned policies are not in a model input exactly once")


def check_unpinned(pins: PinnedBlock | None, shown: Sequence[ChatMessage]) -> None:
    """Raise EpisodeError if a summarizer is shown the pins, which it could repeat."""
    block = _block(pins)
    if block and any(block in text for text in message_texts(shown)):
        raise EpisodeError("the summarizer was shown the pinned policies")


def _block(pins: PinnedBlock | None) -> str:
    return pins.text.rstrip("\n") if pins is not None else ""


def roles_problem(messages: Sequence[ChatMessage]) -> str | None:
    """Return what a strict chat template refuses about a conversation's roles; None if nothing.

    The rules are those that templates of instruction-tuned models enforce: at most
    one system message, at the start; then user and assistant in turn, the user
    first; a tool's result only after its call, or another result of the same.
    """
    rest = list(messages)
    if rest and rest[0].role == "system":
        rest = rest[1:]
    skipped = len(messages) - len(rest)
    stray = next((at for at, message in enumerate(rest) if message.role == "system"), None)
    if stray is not None:
        return f"a system message at {stray + skipped}, not at the start"
    if not rest:
        return "no message but the system's"
    if rest[0].role != "user":
        return f"begins with a message of the {rest[0].role}'s"
    for at, (before, message) in enumerate(pairwise(rest), start=1 + skipped):
        if message.role == "tool":
            called = isinstance(before, ChatMessageAssistant) and before.tool_calls
            if not called and before.role != "tool":
                return f"a tool's result at {at} without its call"
        elif before.role == message.role:
            return f"two messages of the {message.role}'s in a row"
        elif message.role == "user" and before.role == "tool":
            return "a request right after a tool's result"
    return None
