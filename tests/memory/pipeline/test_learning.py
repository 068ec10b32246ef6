"""Budgets learn from outcomes, no refusal starves a rule, and no load loses a pinned byte."""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.model import ChatMessage

from constraintrot.errors import ParameterError
from constraintrot.memory.pipeline import Budget, Pipeline, PipelineOverflowError
from constraintrot.memory.pipeline.context import size, tool_tokens
from constraintrot.memory.pipeline.profiles import layers
from constraintrot.memory.pipeline.workspace import (
    LEARNED,
    Allocation,
    Entry,
    Outcome,
    Prebuilt,
    Workspace,
)
from tests.harnesses.messages import result, said, system, user
from tests.memory.pipeline.conversations import OPERATOR, RULE, answer, rules, tool

TIPS = [Entry(f"tip-{at}", f"Tip {at}.") for at in range(30)]
POLICY = Entry("policy", RULE, rule=True)


def test_the_papers_steps() -> None:
    allocation = Allocation()
    allocation.outcome(TIPS[:2], "won")
    allocation.outcome(TIPS[1:3], "lost")
    assert [round(allocation.score(one.key), 3) for one in TIPS[:4]] == [0.1, 0.05, -0.05, 0]
    allocation.regime_changed()
    assert [round(allocation.score(one.key), 3) for one in TIPS[:3]] == [0.05, 0.025, -0.025]


def test_after_fifty_outcomes_tokens_move_to_the_category_that_did_well() -> None:
    allocation, base = Allocation(), Budget()
    recalled = Entry("doc", "A document.", "retrieval")
    for _ in range(49):
        allocation.outcome([TIPS[0]], "won")
        assert allocation.tokens("memory") == base.memory
    allocation.outcome([recalled], "lost")
    assert allocation.tokens("memory") > base.memory
    assert allocation.tokens("retrieval") < base.retrieval


@given(
    st.lists(
        st.tuples(st.sampled_from(LEARNED), st.sampled_from(["won", "lost", "refused", "new"])),
        max_size=40,
    )
)
def test_parts_never_grow_in_all_nor_fall_below_half(steps: list[tuple[str, str]]) -> None:
    allocation, base = Allocation(every=3), Budget()
    whole = base.memory + base.retrieval + base.domain
    for category, what in steps:
        if what == "new":
            allocation.regime_changed()
        else:
            outcome: Outcome = what  # type: ignore[assignment]
            allocation.outcome([Entry("one", "One.", category)], outcome)
        parts = {name: allocation.tokens(name) for name in LEARNED}
        assert whole - 3 <= sum(parts.values()) <= whole
        assert all(part >= getattr(base, name) // 2 for name, part in parts.items())


def test_refusals_starve_a_policy_only_where_they_count_and_it_is_an_entry() -> None:
    def last(refusals: str, policy: Entry) -> bool:
        allocation = Allocation(refusals=refusals)  # type: ignore[arg-type]
        for _ in range(20):
            chosen = allocation.chosen([policy, *TIPS], 10)
            allocation.outcome(chosen, "refused" if policy in chosen else "won")
        return policy in allocation.chosen([policy, *TIPS], 10)

    as_entry = Entry("policy", RULE)
    assert not last("lost", as_entry)
    assert last("ignored", as_entry)
    assert last("lost", POLICY)


def test_a_rule_is_never_scored() -> None:
    allocation = Allocation()
    for _ in range(100):
        allocation.outcome([POLICY, TIPS[0]], "lost")
    assert allocation.score("policy") == 0
    assert allocation.score("tip-0") == -1
    assert allocation.chosen([*TIPS, POLICY], 1)[0] == POLICY
    with pytest.raises(ParameterError, match="category is one of"):
        Entry("x", "X.", "system")


def test_a_workspace_is_assembled_anew_with_its_invariants_whole() -> None:
    registry, known = rules(RULE), list(TIPS)
    space = Workspace(registry, lambda: known, system="Be brief.")
    first = [m.text for m in space.request("Go.")]
    assert first[0] == "Be brief."
    assert RULE in first[1]
    assert first[2].count("Tip ") == 10
    assert first[3] == "Go."
    known[:] = [POLICY]
    registry.pin("Never write on Sundays.", by=OPERATOR)
    second = [m.text for m in space.request("Go.")]
    assert "Never write on Sundays." in second[1]
    assert second[2] == f"<memory>\n- {RULE}\n</memory>"


def test_a_workspace_that_cannot_hold_its_rules_stops() -> None:
    small = Budget(
        total=70, system=10, tools=10, memory=10, retrieval=10, domain=10, history=10, query=10
    )
    space = Workspace(rules("word " * 200), lambda: [], budget=small)
    with pytest.raises(PipelineOverflowError, match="budget is 70"):
        space.assemble()


def test_a_workspace_built_ahead_is_in_force_with_the_next_decision() -> None:
    for keyed, late in ((True, 0), (False, 3)):
        registry = rules()
        ahead = Prebuilt(Workspace(registry, lambda: TIPS), every=5, keyed=keyed)
        ahead.get()
        ahead.get()
        registry.pin(RULE, by=OPERATOR)
        held = [any(RULE in m.text for m in ahead.get().messages) for _ in range(6)]
        assert held.index(True) == late


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
