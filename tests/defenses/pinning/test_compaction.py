"""PinnedCompaction, PinnedModel and pin_filter: the policy is in each input of an agent that compacts."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inspect_ai import Task, eval
from inspect_ai.agent import Agent, AgentState, agent, agent_bridge, react
from inspect_ai.dataset import Sample
from inspect_ai.event import InfoEvent
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    CompactionEdit,
    CompactionResult,
    CompactionStrategy,
    CompactionSummary,
    CompactionTrim,
    Content,
    ContentImage,
    ContentText,
    GenerateConfig,
    Model,
    compaction,
)
from inspect_ai.tool import Tool, ToolCall, ToolInfo, tool
from openai import AsyncOpenAI

from constraintrot.defenses.pinning import PinnedCompaction, PinnedModel, Pins, pin_filter
from constraintrot.defenses.pinning.pinned_block import Receipt
from constraintrot.defenses.rampart import PinOverflowError, Principal, Registry
from tests.defenses.pinning.conversation import (
    POLICY,
    SECOND,
    Forgetting,
    Merging,
    opening,
    play,
    rules,
    turn,
    whole,
)
from tests.harnesses.messages import user


def quiet(inner: CompactionStrategy, registry: Registry | None = None) -> PinnedCompaction:
    """A strategy with pins, whose receipts nobody reads."""
    return PinnedCompaction(inner, registry or rules(), report=lambda _: None)


@pytest.mark.parametrize("merges", [False, True])
@pytest.mark.parametrize(
    "inner",
    [
        Forgetting,
        lambda: CompactionSummary(threshold=100_000),
        lambda: CompactionTrim(preserve=0.3),
    ],
)
def test_a_pin_stands_once_and_at_the_same_place_after_five_rounds(
    inner: Any, merges: bool
) -> None:
    receipts: list[Receipt] = []
    strategy = PinnedCompaction(inner(), rules(POLICY, SECOND), report=receipts.append)
    contexts = play(strategy, 5, merges)
    block = strategy.pins.text
    assert block.count(POLICY) == 1
    starts = {whole(context).index(block) for context in contexts}
    assert len(starts) == 1, "the block moved, and a prefix cache with it"
    for context in contexts:
        assert whole(context).count(block) == 1
        assert whole(context).count("Work.") == 1, "a merged message was taken for a new one"
    heads = {whole(context)[: starts.copy().pop() + len(block)] for context in contexts}
    assert len(heads) == 1
    assert [receipt.state for receipt in receipts] == ["injected"] * 5


def test_without_the_pin_the_same_strategy_loses_it() -> None:
    contexts = play(Forgetting(), 3, False, [user(POLICY, id="p")])
    assert POLICY not in whole(contexts[-1])


def test_the_compactor_is_never_shown_the_block() -> None:
    inner = Forgetting()
    play(PinnedCompaction(inner, rules()), 4, True)
    assert len(inner.shown) == 4
    assert not any("pinned" in m.text for shown in inner.shown for m in shown)


def test_a_changed_pin_replaces_the_old_block() -> None:
    operator = Principal("operator")
    registry = Registry(operator)
    block = registry.pin("Spend at most $100.", by=operator)
    strategy = quiet(Forgetting(), registry)
    model = Model(Merging(False), GenerateConfig())

    async def go() -> str:
        first = (await strategy.compact(model, [*opening(), *turn(1)], []))[0]
        registry.amend(block.id, "Spend at most $50.", by=operator)
        return whole((await strategy.compact(model, [*first, *turn(2)], []))[0])

    text = asyncio.run(go())
    assert "$50" in text
    assert "$100" not in text


@pytest.mark.parametrize("threshold", [120, 0.001])
@pytest.mark.parametrize("words", [60, 100, 200])
def test_a_pin_that_cannot_fit_stops_the_agent(threshold: int | float, words: int) -> None:
    strategy = quiet(Forgetting(threshold), rules("longer " * words))
    with pytest.raises(PinOverflowError, match="raise the budget"):
        play(strategy, 1, False)


def test_nothing_pinned_needs_no_room() -> None:
    strategy = quiet(CompactionTrim(threshold=30), Registry(Principal("nobody")))
    assert play(strategy, 1, False)[0]


def test_a_compactor_that_can_do_with_less_is_asked_again() -> None:
    """Trimming once leaves too much for the pins, trimming twice does not."""
    first = [message for number in range(10, 16) for message in turn(number, "word " * 12)]
    strategy = quiet(CompactionTrim(threshold=110, preserve=0.6))
    (context,) = play(strategy, 1, False, first)
    assert whole(context).count(strategy.pins.text) == 1


class OnlySummary(Forgetting):
    """Keeps nothing but its summary, so that Inspect puts the sample's input back itself."""

    async def compact(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> tuple[list[ChatMessage], ChatMessageUser | None]:
        kept, summary = await super().compact(model, messages, tools)
        return kept[-1:], summary


def test_a_merged_message_that_is_not_known_loses_nothing_but_the_block() -> None:
    inner = OnlySummary()
    first = Pins(rules(), report=lambda _: None, nonce="of this deployment")
    contexts = play(PinnedCompaction(inner, first.registry, pins=first), 3, True)
    assert "Summary 1." in whole(inner.shown[1])
    assert "Summary 2." in whole(inner.shown[2])
    assert not any("pinned" in whole(shown) for shown in inner.shown)
    fresh = Forgetting()
    again = Pins(rules(), report=lambda _: None, nonce="of this deployment")
    resumed = PinnedCompaction(fresh, again.registry, pins=again)
    assert again.text == first.text
    model = Model(Merging(True), GenerateConfig())
    asyncio.run(resumed.compact(model, [*contexts[-1], *turn(9)], []))
    assert "Summary 3." in whole(fresh.shown[0])
    assert "Work." in whole(fresh.shown[0])
    assert "pinned" not in whole(fresh.shown[0])


def test_conversations_that_share_a_strategy_do_not_mix() -> None:
    """The same words, but another picture in each."""
    strategy = quiet(Forgetting())
    model = Model(Merging(True), GenerateConfig())

    def begin(picture: str) -> list[ChatMessage]:
        image = ContentImage(image=f"data:image/png;base64,{picture}")
        content: list[Content] = [ContentText(text="Work."), image]
        return [user(content, id=picture, source="input")]

    async def go() -> dict[str, list[ChatMessage]]:
        handlers = {p: compaction(strategy, prefix=begin(p), model=model) for p in ("AAAA", "BBBB")}
        history = {picture: begin(picture) for picture in handlers}
        found: dict[str, list[ChatMessage]] = {}
        for number in range(3):
            for picture, handler in handlers.items():
                history[picture] += turn(number)
                found[picture], extra = await handler.compact_input(history[picture], force=True)
                history[picture] += [extra] if extra else []
        return found

    for picture, context in asyncio.run(go()).items():
        images = [
            part.image
            for message in context
            if isinstance(message.content, list)
            for part in message.content
            if isinstance(part, ContentImage)
        ]
        assert images == [f"data:image/png;base64,{picture}"]
        assert whole(context).count("Work.") == 1


TEXTS = st.text(st.sampled_from("ab~ \n.#`é☃"), min_size=1, max_size=30)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(TEXTS.filter(lambda text: bool(text.strip())), min_size=1, max_size=3, unique=True),
    st.lists(TEXTS, min_size=1, max_size=4),
    st.booleans(),
)
def test_whatever_is_pinned_and_said_the_pins_come_through(
    policies: list[str], said: list[str], merges: bool
) -> None:
    registry = rules(*policies)
    strategy = quiet(Forgetting(), registry)
    first = [user(text, id=f"x{n}") for n, text in enumerate(said)]
    for context in play(strategy, 3, merges, first):
        assert registry.verify(m.text for m in context if m.role == "user").held
        assert whole(context).count(strategy.pins.text) == 1


def test_edit_compaction_is_wrapped_as_well() -> None:
    call = ToolCall(id="c", function="look", arguments={"at": "x"})
    result = ChatMessageTool(content="r " * 200, function="look", tool_call_id="c", id="t")
    first: list[ChatMessage] = [
        ChatMessageAssistant(content="", tool_calls=[call], id="a"),
        result,
    ]
    strategy = quiet(CompactionEdit(threshold=100_000, keep_tool_uses=0))
    contexts = play(strategy, 2, False, first)
    assert whole(contexts[-1]).count(strategy.pins.text) == 1
    assert "r r r" not in whole(contexts[-1])


def test_the_result_says_which_strategy_ran() -> None:
    model = Model(Merging(False), GenerateConfig())
    strategy = quiet(CompactionTrim())
    outcome: CompactionResult = asyncio.run(
        strategy.compact_outcome(model, [*opening(), *turn(1)], [])
    )
    assert outcome.applied == "CompactionTrim"
    assert strategy.type == "trim"


@tool
def look() -> Tool:
    async def execute(at: str) -> str:
        """Look at something.

        Args:
            at: what.
        """
        return "a long result " * 40

    return execute


@pytest.mark.parametrize("merges", [False, True])
def test_a_react_agent_has_the_policy_in_every_input(merges: bool, tmp_path: Any) -> None:
    api = Merging(merges, calls=12)
    registry = rules()
    strategy = PinnedCompaction(CompactionSummary(threshold=700), registry)
    task = Task(
        dataset=[Sample(input="Do some work.")],
        solver=react(tools=[look()], model=PinnedModel(registry), compaction=strategy),
    )
    model = Model(api, GenerateConfig())
    (log,) = eval(task, model=model, log_dir=str(tmp_path), display="none")
    assert log.status == "success", log.error
    assert log.samples is not None
    events = [e for e in log.samples[0].events if isinstance(e, InfoEvent)]
    receipts = [e.data for e in events if e.source == "pin receipt" and isinstance(e.data, dict)]
    compactions = [r for r in receipts if r["where"] == "compaction"]
    assert len(compactions) >= 3, "compaction has to fire between real tool calls, several times"
    assert {r["state"] for r in receipts if r["where"] == "call"} == {"injected", "verified"}
    assert len(api.seen) == len([r for r in receipts if r["where"] == "call"]) == 13
    for sent in api.seen:
        assert whole(sent).count(strategy.pins.text) == 1
        assert whole(sent).count("Do some work.") == 1
    # A summarizer is not told the pins as its own rules.
    summaries = [sent for sent in api.inputs if sent not in api.seen]
    assert len(summaries) == len(compactions)
    assert not any(strategy.pins.text in whole(sent) for sent in summaries)


def test_an_agent_over_the_bridge_keeps_the_policy(tmp_path: Any) -> None:
    @agent
    def foreign(strategy: PinnedCompaction) -> Agent:
        async def execute(state: AgentState) -> AgentState:
            check = pin_filter(strategy.pins.registry)
            async with agent_bridge(state, compaction=strategy, filter=check) as bridge:
                client = AsyncOpenAI(api_key="none")
                said: list[Any] = [{"role": "system", "content": "You are an agent."}]
                for number in range(8):
                    said.append({"role": "user", "content": f"step {number} " + "words " * 150})
                    answer = await client.chat.completions.create(model="inspect", messages=said)
                    said.append({"role": "assistant", "content": answer.choices[0].message.content})
                return bridge.state

        return execute

    api = Merging(True)
    strategy = PinnedCompaction(Forgetting(threshold=900), rules())
    task = Task(dataset=[Sample(input="Work.")], solver=foreign(strategy))
    (log,) = eval(task, model=Model(api, GenerateConfig()), log_dir=str(tmp_path), display="none")
    assert log.status == "success", log.error
    inputs = api.inputs
    assert len(inputs) == 8
    assert [whole(sent).count(strategy.pins.text) for sent in inputs] == [1] * 8
    assert "step 0" not in whole(inputs[-1])
