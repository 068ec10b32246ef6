"""Conversations in few words, pins, and a way to take a request through layers."""

import asyncio
from collections.abc import Sequence
from typing import Any

from inspect_ai.model import ChatMessage, ModelOutput
from inspect_ai.tool import ToolInfo, ToolParams

from constraintrot.defenses.rampart import Registry
from constraintrot.memory.pipeline import Pipeline, Prepared
from tests.harnesses.messages import said, system, user
from tests.harnesses.rules import OPERATOR as OPERATOR
from tests.harnesses.rules import registry

RULE = "Send email only to addresses at example.org."


def rules(*texts: str) -> Registry:
    return registry(*texts, label="pins")


def talk(turns: int, *, words: int = 20) -> list[ChatMessage]:
    exchanges = [
        message
        for at in range(turns)
        for message in (
            user(f"Request {at}: " + f"item{at} " * words),
            said(f"Reply {at}: done."),
        )
    ]
    return [system("Be brief."), *exchanges]


def tool(name: str, description: str = "Does something.") -> ToolInfo:
    return ToolInfo(name=name, description=description, parameters=ToolParams())


def prepared(
    pipeline: Pipeline,
    messages: Sequence[ChatMessage],
    tools: Sequence[ToolInfo] = (),
    **given: Any,
) -> Prepared:
    return asyncio.run(pipeline.prepare(messages, tools, **given))


def answer(text: str = "Done.") -> ModelOutput:
    return ModelOutput.from_content("mockllm/model", text)


def texts(found: Prepared) -> list[str]:
    return [message.text for message in found.messages]
