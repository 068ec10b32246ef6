"""The pins of a framework's own hook, and the checks of their place."""

from collections.abc import Sequence

from inspect_ai.model import ChatMessage

from constraintrot.defenses import Defense
from constraintrot.defenses.pinning.pinned_block import PinnedBlock
from constraintrot.episode.messages import message_texts
from constraintrot.errors import EpisodeError


def framework_pins(defense: Defense) -> PinnedBlock | None:
    """Return the block that a framework's own hook pins, if the defense supplies one.

    Raises:
        EpisodeError: the defense supplies something other than a PinnedBlock.
    """
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
