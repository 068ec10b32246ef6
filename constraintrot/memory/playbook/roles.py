"""ACE's roles as Inspect model roles ``reflector`` and ``curator``; the agent is the Generator.

``inspect eval ... --model-role reflector=... --model-role curator=...``. A missing role falls back
to the role ``summarizer``, and that to the task's model. The paper uses one model for all three.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from inspect_ai.model import ChatMessage, ChatMessageUser, GenerateConfig, Model, get_model
from inspect_ai.tool import ToolInfo

from constraintrot.memory.playbook import prompts
from constraintrot.memory.playbook.bullets import DEFAULT_SECTION
from constraintrot.memory.playbook.delta import (
    Count,
    Delta,
    json_values,
    read_delta,
    read_kind,
    says_something,
)

# A model that ignores the answer's form might never stop.
MAX_TOKENS = 1_200


@dataclass
class Cost:
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0

    def plus(self, other: Cost) -> Cost:
        return Cost(
            self.calls + other.calls, self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens, self.seconds + other.seconds,
        )  # fmt: skip


@dataclass(frozen=True)
class Reflection:
    """The Reflector's findings."""

    insights: tuple[dict[str, str], ...] = ()  # each with ``text``, ``kind`` and ``section``
    counts: tuple[Count, ...] = ()  # counts of bullets that helped or harmed
    faults: tuple[str, ...] = ()  # unreadable parts of the answer
    cost: Cost = field(default_factory=Cost)


def role(name: str, agent: Model) -> Model:
    """Return the model of a role, else that of the summarizer, else the agent's."""
    return get_model(role=name, default=get_model(role="summarizer", default=agent))


async def ask(
    model: Model, messages: list[ChatMessage], tools: list[ToolInfo], most: int = MAX_TOKENS
) -> tuple[str, Cost]:
    """Return a model's answer as a text, and its cost.

    The agent's tools are passed but must not be used, so that a provider's cache of the
    conversation's prefix still hits.
    """
    start = time.perf_counter()
    limit = min(most, model.config.max_tokens or most)
    output = await model.generate(
        messages, tools=tools, tool_choice="none", config=GenerateConfig(max_tokens=limit)
    )
    usage = output.usage
    sent = 0 if usage is None else usage.input_tokens + (usage.input_tokens_cache_read or 0)
    written = 0 if usage is None else usage.output_tokens
    return output.completion, Cost(1, sent, written, time.perf_counter() - start)


async def reflect(
    model: Model, messages: Sequence[ChatMessage], playbook: str, feedback: str = "", *,
    tools: Sequence[ToolInfo] = (), rounds: int = 1,
) -> Reflection:  # fmt: skip
    """Ask the Reflector what a trajectory teaches.

    From the second of at most ``rounds`` questions on, it is asked to correct itself, until nothing
    changes.
    """
    question = prompts.reflect(playbook, feedback)
    found, cost = Reflection(), Cost()
    for _ in range(rounds):
        text, spent = await ask(model, [*messages, ChatMessageUser(content=question)], list(tools))
        cost = cost.plus(spent)
        latest = read_reflection(text)
        # An unreadable later round does not undo an earlier one.
        if latest.faults and found.insights:
            break
        same = (latest.insights, latest.counts) == (found.insights, found.counts)
        found = latest
        if same:
            break
        question = prompts.again({"insights": list(found.insights)})
    return Reflection(found.insights, found.counts, found.faults, cost)


async def curate(model: Model, playbook: str, reflection: Reflection) -> tuple[Delta, Cost]:
    """Ask the Curator for a delta, and add the counters of the reflection to it."""
    if not reflection.insights:
        return Delta(reflection.counts, reflection.faults), Cost()
    question = prompts.curate(playbook, reflection.insights)
    text, cost = await ask(model, [ChatMessageUser(content=question)], [])
    delta = read_delta(text)
    # Counters come from the Reflector; a Curator's counts would count twice.
    operations = tuple(one for one in delta.operations if not isinstance(one, Count))
    faults = (*reflection.faults, *delta.unreadable)
    return Delta((*reflection.counts, *operations), faults), cost


def read_reflection(text: str) -> Reflection:
    """Parse the reflection in a model's answer; unreadable parts are listed as faults."""
    for value in json_values(text):
        if isinstance(value, dict) and ({"insights", "used"} & value.keys()):
            return _read(value)
    return Reflection(faults=(f"no insights: {text[:120]!r}",))


def _read(value: dict[str, Any]) -> Reflection:
    insights: list[dict[str, str]] = []
    counts: list[Count] = []
    faults: list[str] = []
    for one in _listed(value.get("insights")):
        # A model may write a text alone.
        fields = one if isinstance(one, dict) else {"text": one}
        text = fields.get("text")
        if not isinstance(text, str) or not says_something(text):
            faults.append(f"no insight: {str(one)[:120]}")
            continue
        insights.append(
            {
                "text": text, "kind": read_kind(fields.get("kind")),
                "section": str(fields.get("section") or DEFAULT_SECTION),
            }
        )  # fmt: skip
    for one in _listed(value.get("used")):
        fields = one if isinstance(one, dict) else {}
        name, verdict = fields.get("id"), fields.get("verdict")
        if isinstance(name, str) and verdict in ("helpful", "harmful"):
            counts.append(
                Count(id=name, helpful=int(verdict == "helpful"), harmful=int(verdict == "harmful"))
            )
        else:
            faults.append(f"no verdict on a bullet: {str(one)[:120]}")
    return Reflection(tuple(insights), tuple(counts), tuple(faults))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
