"""Each framework's agent as one shape: what it was sent in a conversation, with pins and without."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from constraintrot.defenses.rampart import Registry
from tests.harnesses.rules import CHANNELS

EVERYTHING = frozenset(CHANNELS)
SYSTEM_ONLY = frozenset({"system"})


class Row(NamedTuple):
    """A way to compact, and what comes of it in a long conversation whose summarizer tells nothing.

    Attributes:
        given: what the framework is given, made by the framework's ``play``.
        kept: the channels whose rule stands in the last input.
        asked: whether the last request stands there.
        summaries: how many summaries stand there.
        shown: the channels whose rule the summarizer was ever shown; None where nobody is asked.
    """

    given: Any
    kept: frozenset[str]
    asked: bool = True
    summaries: int = 0
    shown: frozenset[str] | None = None


class Seen(NamedTuple):
    """What a conversation left behind.

    Attributes:
        texts: what the model was sent, call by call.
        stored: the history that the framework keeps.
        shown: all that a summarizer was sent.
    """

    texts: list[str]
    stored: str
    shown: str = ""


class Play(Protocol):
    """Plays the rules, each on its channel, and then work."""

    def __call__(self, given: Any, rules: Registry | None, *, streamed: bool) -> Seen: ...


class Arm(NamedTuple):
    """A framework.

    Attributes:
        matrix: its ways to compact.
        play: one of them in a conversation.
        loop: what a pinned model is sent that calls tools, one after the other, in one request.
        stores_all: whether nothing is ever taken from what it stores.
        streams: whether a model of its can stream here.
    """

    matrix: Mapping[str, Row]
    play: Play
    loop: Callable[[Registry, list[Callable[[], str]]], list[str]]
    stores_all: bool = False
    streams: bool = True
