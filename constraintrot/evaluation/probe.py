"""The probe of the rules in force, which leaves no trace in the episode."""

from collections.abc import Sequence

from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    ResponseSchema,
)
from inspect_ai.tool import ToolInfo
from inspect_ai.util import JSONSchema

from constraintrot.episode.messages import before_trigger
from constraintrot.episode.model_output import withheld
from constraintrot.episode.scaffold.instructions import is_in_process
from constraintrot.episode.scaffold.review import QUESTIONS

# A small model may copy the whole conversation.
_MAX_TOKENS = 400
# Characters of the shortest rule: a small model may answer with a list of single words.
_SHORTEST_RULE = {"en": 16, "es": 16, "de": 16, "zh": 8}


async def probe(model: Model, sent: Sequence[ChatMessage], trigger: str, locale: str) -> str:
    """Ask an agent for the rules in force, after the episode is over.

    The context is the agent's last input without the request and all that follows it, except
    system messages.
    """
    at = next((at for at, one in enumerate(sent) if trigger in one.text), len(sent))
    context = before_trigger(sent[: at + 1], trigger)
    context += [one for one in sent[at + 1 :] if one.role == "system"]
    return await rules_given(model, context, locale)


async def rules_given(
    model: Model,
    context: Sequence[ChatMessage],
    locale: str,
    tools: Sequence[ToolInfo] = (),
) -> str:
    """Return a model's answer about the rules that a conversation gave; empty if it gave none."""
    output = await asked_for_rules(model, context, locale, tools)
    return "" if withheld(output) else output.completion


async def asked_for_rules(
    model: Model,
    context: Sequence[ChatMessage],
    locale: str,
    tools: Sequence[ToolInfo] = (),
) -> ModelOutput:
    """Ask a model for the rules that a conversation gave.

    The tools are for providers that require the tools of earlier calls; none may be called.
    In-process models are not shown them: small ones answer with their names.
    """
    asked = [*context, ChatMessageUser(content=QUESTIONS[locale])]
    if not is_in_process(model):
        return await model.generate(asked, tools=list(tools), tool_choice="none")
    shortest = _SHORTEST_RULE[locale]
    items = JSONSchema(type="string", minLength=shortest)
    rules = JSONSchema(type="array", items=items)
    schema = JSONSchema(type="object", properties={"rules": rules}, required=["rules"])
    config = GenerateConfig(
        max_tokens=_MAX_TOKENS, response_schema=ResponseSchema(name="rules", json_schema=schema)
    )
    return await model.generate(asked, config=config)
