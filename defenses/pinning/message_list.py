"""A registry's pins in a list of messages, or in a system prompt beside one.

No Inspect and no framework needed:

>>> from constraintrot.defenses.rampart import Principal, Registry
>>> operator = Principal("operator")
>>> rules = Registry(operator)
>>> block = rules.pin("Send email only to addresses at example.org.", by=operator)
>>> sent = pinned([{"role": "user", "content": "Hello"}], rules)
>>> [message["role"] for message in sent]
['system', 'user']
>>> "example.org" in pinned_system("Be brief.", rules)
True
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, NamedTuple, TypeVar

from constraintrot.defenses.pinning.block_removal import Removed
from constraintrot.defenses.pinning.content_parts import (
    Content,
    cut_content,
    part_like,
    placed_content,
    text_part,
)
from constraintrot.defenses.pinning.pinned_block import (
    HEADING,
    PinnedBlock,
    Rendering,
    Report,
    State,
    log_receipt,
)
from constraintrot.defenses.rampart import Registry
from constraintrot.errors import ParameterError

M = TypeVar("M")
OPERATOR: Final = ("system", "developer")
"""The roles of OpenAI's messages in which an operator speaks."""
CARRIERS: Final = frozenset(
    [
        "chat_template",
        "contents",
        "input",
        "instructions",
        "messages",
        "prompt",
        "system",
        "systemInstruction",
        "system_instruction",
    ]
)
"""Keys under which some provider takes the operator's words or the whole conversation."""


def refuse_replacing(pinned_block: PinnedBlock, *given: Any) -> None:
    """Let through what a provider's client merges into a request last, as ``extra_body``.

    Raises:
        ParameterError: it would replace the pins, after they were put in.
    """
    for extra in given if pinned_block.text else ():
        if isinstance(extra, Mapping):
            if keys := CARRIERS.intersection(extra):
                raise ParameterError(
                    f"{min(keys)!r} among the extra arguments of a request would replace what is"
                    " pinned; give it in the messages or instructions"
                )
            refuse_replacing(pinned_block, extra.get("extra_body"))


class Placed(NamedTuple, Generic[M]):
    """Messages that hold the pins.

    Attributes:
        changed: whether the pins were out of place, or stood elsewhere too.
        removed: the blocks that were taken out.
    """

    messages: list[M]
    changed: bool
    removed: tuple[Removed, ...]


@dataclass(frozen=True)
class MessageForm(Generic[M]):
    """The system messages of one kind of message.

    Attributes:
        content: returns a system message's content; None for any other message.
        replace: returns a copy of a message with other content.
        make: returns a new system message.
    """

    content: Callable[[M], Content | None]
    replace: Callable[[M, Content], M]
    make: Callable[[str], M]

    def placed(self, messages: Sequence[M], pinned_block: PinnedBlock, now: Rendering) -> Placed[M]:
        """Return messages with the pins in the leading system message, and only there."""
        leading = self.content(messages[0]) if messages else None
        rest, removed = self.without_blocks(messages[leading is not None :], pinned_block)
        if leading is None:
            head = [self.make(now.text)] if now.text else []
            return Placed([*head, *rest], bool(head or removed), removed)
        content, gone = placed_content(leading, pinned_block, now, part_like(leading))
        same = content is leading
        first = messages[0] if same else self.replace(messages[0], content)
        return Placed([first, *rest], not same or bool(removed), (*gone, *removed))

    def beside(
        self,
        messages: Sequence[M],
        system: Content | None,
        pinned_block: PinnedBlock,
        part: Callable[[str], Any] = text_part,
    ) -> tuple[list[M], Content]:
        """Return messages and the system prompt beside them, which alone has the pins, and report.

        ``part`` makes a text a part of a system prompt that is in parts.
        """
        now = pinned_block.rendering()
        kept, removed = self.without_blocks(messages, pinned_block)
        content, gone = placed_content(system or "", pinned_block, now, part)
        same = content == (system or "") and not removed
        state: State = "verified" if same else "injected"
        pinned_block.receipt(state, at=-1, removed=(*gone, *removed), now=now)
        return kept, content

    def without_blocks(
        self, messages: Sequence[M], pinned_block: PinnedBlock
    ) -> tuple[list[M], tuple[Removed, ...]]:
        """Return messages less the blocks that the registry put into system messages.

        A system message with nothing else is dropped.
        """
        kept: list[M] = []
        removed: list[Removed] = []
        for message in messages:
            given = self.content(message)
            content, gone = cut_content(given or "", pinned_block)
            removed += gone
            if not gone:
                kept.append(message)
            elif content:
                kept.append(self.replace(message, content))
        return kept, tuple(removed)

    def pinned(self, messages: Sequence[M], pinned_block: PinnedBlock) -> list[M]:
        """Return messages with the pins in the leading system message, and report the step."""
        now = pinned_block.rendering()
        sent, changed, removed = self.placed(messages, pinned_block, now)
        state: State = "injected" if changed else "verified"
        pinned_block.receipt(state, at=0, removed=removed, now=now)
        return sent


def _content(message: Any) -> Content | None:
    # A model's answer, kept as the client's object, is not a dictionary or a system message.
    if not isinstance(message, Mapping) or message.get("role") not in OPERATOR:
        return None
    return _prompt(message.get("content"))


def _prompt(system: Content | None) -> Content:
    if system is not None and not isinstance(system, str | list | tuple):
        given = type(system).__name__
        raise TypeError(f"a system prompt is a text, a list of parts or None, not {given}")
    return system or ""


DICTS: Final[MessageForm[Any]] = MessageForm(
    content=_content,
    replace=lambda message, content: {**message, "content": content},
    make=lambda text: {"role": "system", "content": text},
)
"""Messages as dictionaries, in the form of OpenAI's chat completions."""


def pinned(
    messages: Sequence[Any],
    pins: Registry | PinnedBlock,
    *,
    heading: str = HEADING,
    report: Report = log_receipt,
) -> list[Any]:
    """Return the messages to send, with the pins in the leading system message.

    Call it right before the model's call, and do not store the result. For a request with
    the system prompt as its own argument, as Anthropic's, use ``pinned_system``.

    Args:
        messages: dictionaries with ``role`` and ``content``, and answers as the client's
            objects; not changed.
        pins: the registry, or a PinnedBlock made from it.
        heading: the line above the pins; a PinnedBlock has its own.
        report: called with the receipt, by default the logger ``constraintrot.pins``; a
            PinnedBlock has its own.

    Raises:
        TypeError: the messages are not a list, a system prompt is neither a text nor parts, or
            the pins are no registry.
    """
    if isinstance(messages, str) or not isinstance(messages, Sequence):
        given = type(messages).__name__
        raise TypeError(
            f'messages are a list, as [{{"role": "user", "content": "Hello"}}], not {given}'
        )
    block = PinnedBlock.of(pins, heading=heading, report=report)
    return [
        dict(message) if isinstance(message, Mapping) else message
        for message in DICTS.pinned(messages, block)
    ]


def pinned_system(
    system: Content | None,
    pins: Registry | PinnedBlock,
    *,
    heading: str = HEADING,
    report: Report = log_receipt,
) -> Content:
    """Return the system prompt to send, with the pins at its end.

    Args:
        system: a text, or a list of parts with the key ``text``; not changed.
        pins: the registry, or a PinnedBlock made from it.
        heading: the line above the pins; a PinnedBlock has its own.
        report: called with the receipt, by default the logger ``constraintrot.pins``; a
            PinnedBlock has its own.

    Raises:
        TypeError: the system prompt is neither, or the pins are no registry.
    """
    block = PinnedBlock.of(pins, heading=heading, report=report)
    return DICTS.beside([], _prompt(system), block)[1]
