"""A request is read although a gateway masked what is personal in it."""

from __future__ import annotations

import asyncio
import re

import pytest
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput
from inspect_ai.tool import ToolCall

from constraintrot.memory.pipeline import Pipeline
from constraintrot.memory.pipeline.masking import Detector, Masking, by_patterns
from constraintrot.models.scripted.request_parser import request_in
from constraintrot.scenario.files import load


def _names(text: str) -> tuple[tuple[int, int, str], ...]:
    """As a detector of people's names: those behind a title."""
    return tuple((*one.span(1), "PERSON") for one in re.finditer(r"Dr (\w+ \w+)", text))


def _prices(text: str) -> tuple[tuple[int, int, str], ...]:
    return tuple((*one.span(), "MONEY") for one in re.finditer(r"\b\d+(?= US dollars)", text))


def check(family: str, locale: str, kind: str, layer: Masking) -> None:
    """A request is read behind a gateway, and its call shown again is the one that was asked for."""
    for seed in range(12):
        variant = load(family, locale).variant(seed)
        text = variant.trigger if kind == "prohibited" else variant.allowed_trigger
        offered = frozenset(tool.name for tool in variant.tools)
        prepared = asyncio.run(Pipeline([layer]).prepare([ChatMessageUser(content=text)]))
        masked = prepared.messages[0].text
        plain, read = request_in(text, offered), request_in(masked, offered)
        if masked == text:
            continue
        assert plain is not None
        assert read is not None, masked
        call = ToolCall(id="1", function=read.call.function, arguments=read.call.arguments)
        message = ChatMessageAssistant(content="", tool_calls=[call])
        answer = prepared.answered(ModelOutput.from_message(message))
        assert answer.message.tool_calls is not None
        assert answer.message.tool_calls[0].arguments == {
            name: str(value) if isinstance(read.call.arguments[name], str) else value
            for name, value in plain.call.arguments.items()
        }
        assert (read.scenario, read.kind) == (plain.scenario, plain.kind)
        return
    raise AssertionError("nothing was masked")


@pytest.mark.parametrize("keep_domain", [True, False])
@pytest.mark.parametrize(
    ("family", "kind"), [("soft_channel", "prohibited"), ("soft_email", "allowed")]
)
def test_an_address_of_two_values(family: str, kind: str, keep_domain: bool) -> None:
    for locale in ("en", "zh"):
        check(family, locale, kind, Masking(by_patterns, keep_domain=keep_domain))


@pytest.mark.parametrize("detect", [_names, _prices])
def test_a_part_of_a_value_and_a_number(detect: Detector) -> None:
    check("soft_spend", "en", "prohibited", Masking(detect))
