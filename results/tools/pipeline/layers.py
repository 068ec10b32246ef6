"""The cost of each layer of the profile ``kept`` on a long conversation, without calls of models."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from typing import Any, Final

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ModelOutput,
)
from inspect_ai.tool import ToolCall, ToolInfo, ToolParams
from inspect_ai.util import JSONSchema

from constraintrot.defenses.rampart import Principal, Registry
from constraintrot.memory.pipeline import Pipeline
from constraintrot.memory.pipeline.cache import SemanticCache
from constraintrot.memory.pipeline.context import tool_tokens
from constraintrot.memory.pipeline.profiles import layers
from constraintrot.memory.pipeline.tools import MetaTools
from constraintrot.memory.playbook import minilm

# Answers that the semantic cache has, of one conversation: its default at most.
ANSWERS: Final = 500
EMBEDDED: Final = "semantic_cache by minilm"
# As many as in the specification's example of a catalogue.
TOOLS: Final = 58
EXCHANGES: Final = 100
_WORDS: Final = [
    "invoice",
    "badge",
    "lift",
    "porter",
    "serial",
    "queue",
    "ledger",
    "parcel",
    "window",
    "bridge",
]


def conversation(exchanges: int = EXCHANGES, seed: int = 0) -> list[ChatMessage]:
    """Return a conversation with a tool's result in every third exchange."""
    draw = random.Random(seed)
    found: list[ChatMessage] = [ChatMessageSystem(content="You run the front desk. Be brief.")]
    for at in range(exchanges):
        said = " ".join(draw.choices(_WORDS, k=40))
        found.append(ChatMessageUser(content=f"Case {at}: {said}, for ana{at}@example.org."))
        if at % 3 == 0:
            call = ToolCall(id=f"c{at}", function="find_case", arguments={"case": at})
            found.append(ChatMessageAssistant(content="", tool_calls=[call]))
            found.append(
                ChatMessageTool(
                    content=f"Case {at} is open.", tool_call_id=call.id, function="find_case"
                )
            )
        found.append(ChatMessageAssistant(content=f"Case {at} is booked: {said[:60]}."))
    return found


def catalogue(number: int = TOOLS) -> list[ToolInfo]:
    """Return tools with a description and three parameters each."""
    return [
        ToolInfo(
            name=f"{_WORDS[at % 10]}_{verb}_{at}",
            description=f"{verb.capitalize()}s the {_WORDS[at % 10]} records of department {at}, with their dates"
            " and owners, newest first.",
            parameters=ToolParams(
                properties={
                    "id": JSONSchema(type="string", description="The record's number."),
                    "since": JSONSchema(
                        type="string", description="Only what is younger than this date."
                    ),
                    "limit": JSONSchema(type="integer", description="How many at most."),
                },
                required=["id"],
            ),
        )
        for at in range(number)
        for verb in [("list", "find", "update")[at % 3]]
    ]


def pins(number: int = 10) -> Registry:
    """Return a registry with some rules."""
    operator = Principal("operator")
    registry = Registry(operator, label="pins")
    for at in range(number):
        registry.pin(f"Rule {at}: records of department {at} stay within the house.", by=operator)
    return registry


def traced(requests: int) -> tuple[dict[str, list[float]], dict[str, tuple[int, int]]]:
    """Return the milliseconds of each layer and of the whole, and the tokens before and after.

    Every request is new, so no cache answers it; the conversation is one that was sent before.
    """
    pipeline = Pipeline(layers(), pins=pins())
    talk, tools = conversation(), catalogue()
    times: dict[str, list[float]] = {}
    tokens: dict[str, tuple[int, int]] = {}

    async def run() -> None:
        from time import process_time

        for number in range(requests):
            asked = [*talk, _asked("parcel", number)]
            start = process_time()
            prepared = await pipeline.prepare(asked, tools)
            times.setdefault("whole pipeline", []).append(1e3 * (process_time() - start))
            for trace in prepared.traces:
                times.setdefault(trace.layer, []).append(1e3 * trace.seconds)
                tokens[trace.layer] = (trace.tokens_before, trace.tokens_after)

    asyncio.run(run())
    return times, tokens


def embedded(requests: int) -> dict[str, Any]:
    """Return the row of the semantic cache by embeddings, for requests without a stored answer.

    Raises:
        EmbeddingError: the extra ``embed`` or its weights are missing.
    """
    pipeline = Pipeline([SemanticCache(minilm(), most=ANSWERS)])
    talk = conversation()

    async def run() -> list[float]:
        for number in range(ANSWERS):
            known = await pipeline.prepare([*talk, _asked("parcel", number)], [])
            known.answered(ModelOutput.from_content("desk", f"It is in room {number}."))
        taken: list[float] = []
        for number in range(requests):
            prepared = await pipeline.prepare([*talk, _asked("serial", number)], [])
            (trace,) = prepared.traces
            if trace.notes["hit"]:
                raise RuntimeError("another request's answer was replayed")
            taken.append(1e3 * trace.seconds)
        return taken

    return _row(EMBEDDED, asyncio.run(run())) | {"ms_p95": ""}


def _asked(what: str, number: int) -> ChatMessageUser:
    return ChatMessageUser(content=f"Where is the {what} of case {number}?")


def measured(requests: int) -> Iterator[dict[str, Any]]:
    """Yield a row for the whole, for each layer, and for tools behind meta-tools."""
    times, tokens = traced(requests)
    for name, taken in times.items():
        row = _row(name, taken)
        if name in tokens:
            # Of a layer it would be the machine's other work, which wall-clock time holds too.
            row["ms_p95"] = ""
            row["tokens_before"], row["tokens_after"] = tokens[name]
        yield row
    for number in (TOOLS, 116):
        given = catalogue(number)
        yield {
            "layer": f"meta-tools for {number}",
            "requests": 1,
            "ms_median": "",
            "ms_p95": "",
            "tokens_before": sum(map(tool_tokens, given)),
            "tokens_after": _meta(given),
        }


def _row(name: str, taken: list[float]) -> dict[str, Any]:
    """Return the row of a layer, without the first tenth of the requests as a warm-up."""
    kept = sorted(taken[len(taken) // 10 :])
    return {
        "layer": name,
        "requests": len(kept),
        "ms_median": f"{kept[len(kept) // 2]:.3f}",
        "ms_p95": f"{kept[int(0.95 * len(kept))]:.3f}",
        "tokens_before": 0,
        "tokens_after": 0,
    }


def _meta(tools: list[ToolInfo]) -> int:
    pipeline = Pipeline([MetaTools(above=0)])
    prepared = asyncio.run(pipeline.prepare([ChatMessageUser(content="Go.")], tools))
    return sum(map(tool_tokens, prepared.tools))
