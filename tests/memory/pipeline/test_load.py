"""Under load: no pinned byte is lost, budgets are kept, no answer is older than a policy."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from uuid import UUID

import pytest
from inspect_ai.model import ChatMessage

from constraintrot.memory.pipeline import Budget, Pipeline
from constraintrot.memory.pipeline.context import size, tool_tokens
from constraintrot.memory.pipeline.profiles import layers
from tests.harnesses.messages import result, said, system, user
from tests.memory.pipeline.conversations import OPERATOR, answer, rules, tool

BUDGET = Budget(
    total=1500, system=100, tools=200, memory=50, retrieval=150, domain=50, history=700, query=250
)
TOOLS = [tool(f"tool_{at}", f"Does thing {at}.") for at in range(20)]
WORDS = ("invoice", "badge", "lift", "porter", "ana@example.org", "4111 1111 1111 1111")


async def write(messages: Sequence[ChatMessage]) -> str:
    return f"OBJECTIVE: {len(messages)} messages"


class Load:
    """Random conversations through one pipeline, while an operator pins and takes pins back."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.registry = rules()
        self.pinned: dict[str, UUID] = {}
        self.pipeline = Pipeline(layers(write=write), pins=self.registry, budget=BUDGET)
        self.talks: dict[str, list[ChatMessage]] = {}
        self.seen: Counter[str] = Counter()

    def change_pins(self) -> None:
        text = f"Rule {self.draw.randrange(6)}: never open case {self.draw.randrange(4)}."
        if text in self.pinned:
            self.registry.evict(self.pinned.pop(text), by=OPERATOR, force=True)
        elif len(self.pinned) < 6:
            self.pinned[text] = self.registry.pin(text, by=OPERATOR).id

    def asked(self) -> tuple[str, list[ChatMessage]]:
        if self.draw.random() < 0.2:
            # Asked by many, who are not heard of again.
            return f"guest {self.draw.random()}", [system("Be brief."), user(self.words(1)[0])]
        id = str(self.draw.randrange(8))
        talk = self.talks.get(id)
        if talk is None or len(talk) > 120:
            talk = self.talks[id] = [system("Be brief.")]
        if self.draw.random() < 0.3:
            talk += [user("Look."), said("Looking", "look_up"), result(" ".join(self.words(30)))]
            talk.append(said("Found."))
        talk.append(user(" ".join(self.words(60))))
        return id, talk

    def words(self, number: int) -> list[str]:
        return self.draw.choices(WORDS, k=number)

    async def request(self) -> None:
        if self.draw.random() < 0.05:
            self.change_pins()
        id, talk = self.asked()
        found = await self.pipeline.prepare(talk, TOOLS, session=id)
        told = "\n".join(message.text for message in found.messages)
        for text in self.pinned:
            assert text in told, "a pinned byte is lost"
        assert told.count("never open case") >= len(self.pinned)
        state = str(sorted(self.pinned))
        if found.answer is None:
            assert size(found.messages) + sum(map(tool_tokens, found.tools)) <= BUDGET.total
            self.seen["asked"] += 1
        else:
            assert found.answer.completion == state, "an answer from before a policy"
            self.seen["replayed"] += 1
        output = found.answered(found.answer or answer(state))
        talk.append(said(output.completion[:20]))
        for trace in found.traces:
            self.seen[trace.layer] += trace.changed


def loaded(requests: int, seed: int = 0) -> Counter[str]:
    load = Load(seed)

    async def run() -> None:
        for _ in range(requests):
            await load.request()

    asyncio.run(run())
    load.seen["handoffs"] = sum(load.pipeline.sessions.get("", id).handoffs for id in load.talks)
    return load.seen


@pytest.mark.parametrize("requests", [300, pytest.param(100_000, marks=pytest.mark.soak)])
def test_no_pinned_byte_is_lost_and_budgets_are_kept(requests: int) -> None:
    seen = loaded(requests)
    assert seen["asked"] + seen["replayed"] == requests
    # What was loaded did something: else nothing was shown.
    for what in ("replayed", "masking", "tools", "compaction", "handoffs", "dual_position"):
        assert seen[what], what
