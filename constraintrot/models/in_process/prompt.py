"""Messages to a ChatML prompt, with control over every byte.

A prompt is a list of pieces: control tokens, which only this module inserts, and text, which
is tokenized with control tokens switched off. So ``<|im_start|>`` in a tool output or an
attacker's text is ordinary text and cannot open a turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from constraintrot.episode.scaffold.answer_format import ToolLike, render_answer, render_tools
from constraintrot.errors import ParameterError

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage


class Control(Enum):
    """The control tokens of ChatML."""

    START = "<|im_start|>"
    END = "<|im_end|>"


Piece: TypeAlias = Control | str
Prompt: TypeAlias = list[Piece]


def render_prompt(
    messages: Sequence[ChatMessage], tools: Sequence[ToolLike], *, answer: bool = True
) -> Prompt:
    """Render messages so that a longer history starts with the shorter one's bytes.

    The tools are in the first system block whatever the tool choice is, so that a summarizer with
    the agent's tools and history reuses the agent's cached prefix. They precede the system message,
    which differs between variants, so that all variants of a family share them. Each tool result is
    a separate turn, although the model's template would merge adjacent ones.

    Args:
        messages: The conversation; a system message is merged with the tools
            only if it comes first.
        tools: The tools that are offered; may be empty.
        answer: Whether to open the assistant's turn at the end.
    """
    rest = list(messages)
    opening = [render_tools(tools)] if tools else []
    if rest and rest[0].role == "system":
        opening.append(_text(rest.pop(0)))
    prompt = _turn("system", "\n\n".join(opening)) if opening else []
    for message in rest:
        prompt += _message(message)
    return [*prompt, Control.START, "assistant\n"] if answer else prompt


def as_text(prompt: Prompt) -> str:
    """Return the prompt as one string, for logs; quoted and real control tokens look the same."""
    return "".join(piece.value if isinstance(piece, Control) else piece for piece in prompt)


def _turn(role: str, text: str) -> Prompt:
    return [Control.START, f"{role}\n{text}", Control.END, "\n"]


def _message(message: ChatMessage) -> Prompt:
    if message.role == "tool":
        result = _text(message) or (message.error.message if message.error else "")
        return _turn("user", f"<tool_response>\n{result}\n</tool_response>")
    if message.role == "assistant":
        calls = [(call.function, call.arguments) for call in message.tool_calls or []]
        return _turn("assistant", render_answer(_text(message), calls))
    return _turn(message.role, _text(message))


def _text(message: ChatMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    kinds = {item.type for item in message.content}
    if kinds & {"image", "audio", "video", "document"}:
        raise ParameterError(f"local models read text only; a message contains {sorted(kinds)}")
    return message.text
