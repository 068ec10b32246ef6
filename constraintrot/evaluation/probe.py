"""Asking the agent which rules are in force, without a trace in the episode."""

from __future__ import annotations

from collections.abc import Sequence

from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ResponseSchema,
)
from inspect_ai.util import JSONSchema

from constraintrot.scaffold.probe import QUESTIONS

# A small model may copy the whole conversation.
_MAX_TOKENS = 400


async def probe(model: Model, sent: Sequence[ChatMessage], trigger: str, locale: str) -> str:
    """What an agent answers when it is asked for the rules; the episode is over by then.

    Args:
        model: the agent's.
        sent: its last input.
        trigger: the request; it, and all but system messages behind it, are left out.
        locale: language of the question.
    """
    at = next((at for at, one in enumerate(sent) if trigger in one.text), len(sent))
    context = [*sent[:at], *(one for one in sent[at + 1 :] if one.role == "system")]
    output = await model.generate(
        [*context, ChatMessageUser(content=QUESTIONS[locale])], config=_config(model)
    )
    return output.completion


def _config(model: Model) -> GenerateConfig:
    if not str(model).startswith("local/"):
        return GenerateConfig()
    rules = JSONSchema(type="array", items=JSONSchema(type="string"))
    schema = JSONSchema(type="object", properties={"rules": rules}, required=["rules"])
    return GenerateConfig(
        max_tokens=_MAX_TOKENS, response_schema=ResponseSchema(name="probe", json_schema=schema)
    )
