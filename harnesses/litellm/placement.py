"""The pins' place in a request, and the check that LiteLLM's next call holds them.

>>> from constraintrot.defenses.pinning.pinned_block import PinnedBlock
>>> from constraintrot.defenses.rampart import Principal, Registry
>>> operator = Principal("operator")
>>> rules = Registry(operator)
>>> block = rules.pin("Send email only to addresses at example.org.", by=operator)
>>> request = {"messages": [{"role": "user", "content": "Hello"}]}
>>> pin(request, "acompletion", PinnedBlock(rules))
>>> [message["role"] for message in request["messages"]]
['system', 'user']
"""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from constraintrot.defenses.pinning.message_list import DICTS, OPERATOR, pinned
from constraintrot.defenses.pinning.pinned_block import PinnedBlock

CHAT = frozenset({"completion", "acompletion"})
RESPONSES = frozenset({"responses", "aresponses"})
MESSAGES = frozenset({"anthropic_messages"})
PINNED = CHAT | RESPONSES | MESSAGES
"""LiteLLM's call types that have a place for the pins."""

# Without a leading "a", as in `aembedding`.
_NO_TEXT = frozenset(
    [
        "audio_transcription",
        "call_mcp_tool",
        "count_tokens",
        "embedding",
        "embeddings",
        "image_edit",
        "image_generation",
        "list_input_items",
        "list_mcp_tools",
        "moderation",
        "rerank",
        "transcription",
    ]
)
_KEPT = ("get_", "retrieve_", "list_", "delete_", "cancel_", "file_")


def pin(data: dict[str, Any], call_type: str, pinned_block: PinnedBlock) -> None:
    """Put the pins into a request, or into the arguments of a LiteLLM call, in place."""
    if call_type in CHAT:
        messages = _messages(data.get("messages"), "messages")
        for message in messages:
            if message.get("role") in OPERATOR:
                _only_text(message.get("content"), f"a {message['role']} message")
        data["messages"] = pinned(messages, pinned_block)
        _whole(data, call_type, pinned_block)
        return
    beside, system = ("input", "instructions") if call_type in RESPONSES else ("messages", "system")
    given, listed = data.get(system), isinstance(data.get(beside), list)
    if call_type in RESPONSES and given is not None and not isinstance(given, str):
        raise ValueError("instructions is not a text")
    _content(given, system)
    messages = _messages(data[beside], beside) if listed else []
    kept, content = DICTS.beside(messages, given, pinned_block)
    if listed:
        data[beside] = kept
    # An empty text would ask for other instructions than none do.
    if content:
        data[system] = content
    elif given:
        del data[system]
    _whole(data, call_type, pinned_block)


def _whole(data: Mapping[str, Any], call_type: str, pinned_block: PinnedBlock) -> None:
    """Refuse a block that is cut over several texts, which some providers' requests join."""
    said = list(_operators_texts(data, call_type))
    if len(said) < 2:
        return
    once = sum(len(pinned_block.less(text)[1]) for text in said)
    for between in ("", " ", "\n", "\n\n"):
        if len(pinned_block.less(between.join(said))[1]) > once:
            raise ValueError("a pinned block is cut over several parts of the operator's messages")


def _only_text(content: Any, name: str) -> None:
    """Refuse parts that are no text parts: for some providers LiteLLM drops them, and ours beside."""
    parts: list[Any] = content if isinstance(content, list) else []
    for part in parts:
        if isinstance(part.get("text"), str) and part.get("type", "text") != "text":
            raise ValueError(f"a text in the content of {name} is of the type {part['type']}")


def writes_nothing(call_type: str) -> bool:
    """Return whether no language model writes text in calls of a type, as far as known."""
    names = (call_type, call_type.removeprefix("a"))
    return any(name in _NO_TEXT or name.startswith(_KEPT) for name in names)


def in_place(data: Mapping[str, Any], call_type: str, block: str) -> bool:
    """Return whether a call holds a pinned block where the model reads its operator."""
    return not block or any(block in text for text in _operators_texts(data, call_type))


def _operators_texts(data: Mapping[str, Any], call_type: str) -> Iterator[str]:
    if call_type in MESSAGES:
        yield from texts(data.get("system"))
        return
    yield from texts(data.get("instructions") if call_type in RESPONSES else None)
    # LiteLLM moves a system message in parts to an item of a response's input.
    history: Any = data.get("input" if call_type in RESPONSES else "messages")
    listed: list[Any] = history if isinstance(history, list) else []
    for message in listed:
        known = cast("Mapping[str, Any]", message) if isinstance(message, Mapping) else {}
        if known.get("role") in OPERATOR:
            yield from texts(known.get("content"))


def texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    else:
        parts: list[Any] = content if isinstance(content, list) else []
        said = (cast("Any", part).get("text") for part in parts if isinstance(part, Mapping))
        yield from (text for text in said if isinstance(text, str))


def _mappings(given: Any, name: str) -> list[Mapping[str, Any]]:
    if not isinstance(given, list):
        raise ValueError(f"{name} is not a list")
    listed: list[Any] = given
    if not all(isinstance(one, Mapping) for one in listed):
        raise ValueError(f"{name} holds what is not an object")
    return listed


def _messages(given: Any, name: str) -> list[Mapping[str, Any]]:
    listed = _mappings(given, name)
    for message in listed:
        if message.get("role") in OPERATOR:
            _content(message.get("content"), f"a {message['role']} message")
    return listed


def _content(given: Any, name: str) -> None:
    if given is None or isinstance(given, str):
        return
    for part in _mappings(given, f"the content of {name}"):
        if not isinstance(part.get("text"), str | None):
            raise ValueError(f"a text in the content of {name} is not a text")
