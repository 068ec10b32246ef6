"""Layers one after the other, and the pins behind all of them."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest
from inspect_ai.model import ChatMessageUser, get_model

from constraintrot.errors import ParameterError
from constraintrot.memory.pipeline import Budget, Context, Pipeline, PipelineOverflowError
from constraintrot.memory.pipeline.arrangement import (
    CUT,
    STRIPPED,
    Affinity,
    DualPosition,
    Limits,
    PrefixTiers,
    SummaryRoles,
)
from constraintrot.memory.pipeline.cache import SemanticCache
from constraintrot.memory.pipeline.context import size
from constraintrot.memory.pipeline.inspect_agent import PipelineModel, pipeline_filter, pipelined
from constraintrot.memory.pipeline.langchain import PipelineMiddleware
from constraintrot.memory.pipeline.layer import Layer, Ran
from constraintrot.memory.pipeline.masking import Masking
from constraintrot.memory.pipeline.profiles import InjectionFilter, layers
from constraintrot.memory.pipeline.tools import ToolPruning
from tests.harnesses.messages import result, said, system, user
from tests.memory.pipeline.conversations import OPERATOR, RULE, prepared, rules, talk, texts, tool


class Shredder(Layer):
    name = "shredder"

    async def run(self, context: Context) -> Ran:
        assert not any(RULE in message.text for message in context.messages), "it saw a pin"
        return replace(context, messages=context.messages[-1:]), {"kept": 1}


class Nameless(Layer):
    async def run(self, context: Context) -> Ran:
        return context, {}


def test_a_layer_that_loses_everything_loses_no_pin() -> None:
    pipeline = Pipeline([Shredder()], pins=rules(RULE))
    found = prepared(pipeline, talk(3))
    assert sum(RULE in text for text in texts(found)) == 1
    assert len(found.messages) == 2
    again = prepared(pipeline, [*found.messages, user("And now?")])
    assert sum(RULE in text for text in texts(again)) == 1


def test_a_trace_says_what_each_layer_did() -> None:
    pipeline = Pipeline([PrefixTiers(), Shredder()])
    first, second = prepared(pipeline, talk(3)).traces
    assert (first.layer, first.changed) == ("prefix", False)
    assert first.tokens_before == first.tokens_after
    assert (second.layer, second.changed, second.notes) == ("shredder", True, {"kept": 1})
    assert second.tokens_after < second.tokens_before == first.tokens_after


def test_what_would_fail_with_the_first_request_or_do_nothing_is_refused() -> None:
    mistakes: list[tuple[Callable[[], object], str]] = [
        (lambda: pipelined(layers()), "a pipeline is a Pipeline"),  # type: ignore[arg-type]
        (lambda: PipelineModel(layers()), "a pipeline is a Pipeline"),  # type: ignore[arg-type]
        (lambda: pipeline_filter(layers()), "a pipeline is a Pipeline"),  # type: ignore[arg-type]
        (lambda: PipelineMiddleware(layers()), "a pipeline is a Pipeline"),  # type: ignore[arg-type]
        (lambda: pipelined(Pipeline([]), most=0), "most is how often"),
        (lambda: Masking("presidio"), "detect is a function"),  # type: ignore[arg-type]
        (lambda: InjectionFilter("phrases"), "score is a function"),  # type: ignore[arg-type]
        (lambda: InjectionFilter(roles="tool"), r"roles are several, as \('tool',\)"),
        (lambda: ToolPruning("send"), r"core is several names, as \('send',\)"),
        (lambda: Affinity("backend"), "backends are several names"),
        (lambda: ToolPruning(withheld="send"), "withheld is several names"),
        (lambda: SemanticCache("minilm"), r"similarity is a measure, as minilm\(\)"),  # type: ignore[arg-type]
        (lambda: layers(profile="kep"), "profile is kept or literal, not 'kep'"),  # type: ignore[arg-type]
        (lambda: Pipeline([], pins="Be brief."), r"pins are a Registry .*, not 'Be brief.'"),  # type: ignore[arg-type]
        (lambda: Pipeline([], budget=100_000), r"budget is a Budget, .* not 100000"),  # type: ignore[arg-type]
        (lambda: Budget(total=10), "more than its total"),
        (lambda: Pipeline([PrefixTiers(), PrefixTiers()]), "prefix, prefix"),
    ]
    for made, told in mistakes:
        with pytest.raises(ParameterError, match=told):
            made()


def test_what_is_no_layer_and_no_message_is_refused() -> None:
    for wrong in ("masking", Masking, Nameless()):
        with pytest.raises(ParameterError, match="layers are objects of Layer with a name"):
            Pipeline([wrong])  # type: ignore[list-item]
    for given in ("hello", [{"role": "user", "content": "hello"}]):
        with pytest.raises(ParameterError, match="messages are a list of Inspect's"):
            asyncio.run(Pipeline([]).prepare(given))  # type: ignore[arg-type]


def test_what_must_stay_whole_and_is_too_long_stops_the_agent() -> None:
    small = Budget(
        total=200, system=60, tools=20, memory=20, retrieval=20, domain=10, history=30, query=40
    )
    pipeline = Pipeline([Limits()], budget=small)
    with pytest.raises(PipelineOverflowError, match="system messages have"):
        prepared(pipeline, [system("rule " * 100), user("Go.")])
    with pytest.raises(PipelineOverflowError, match="the request has"):
        prepared(pipeline, [user("word " * 100)])
    with pytest.raises(PipelineOverflowError, match="add the layers"):
        prepared(Pipeline([], budget=small), talk(30))


def test_limits_cut_the_oldest_turns_and_entries_and_nothing_else() -> None:
    small = Budget(total=400, system=60, tools=20, memory=20, retrieval=60, most_retrieved=2,
                   domain=10, history=100, query=60)  # fmt: skip
    calls = [
        one for at in range(4)
        for one in (user(f"Look {at} up."), said(f"Looking {at}", "look_up"), result(f"found {at}"))
    ]  # fmt: skip
    found = prepared(Pipeline([Limits()], budget=small), [*talk(5), *calls, user("What was it?")])
    told = texts(found)
    assert told[0] == "Be brief."
    assert told[-1] == "What was it?"
    assert [text for text in told if text == CUT or text.startswith("found")] == [
        CUT, CUT, "found 2", "found 3",
    ]  # fmt: skip
    assert not any("Request 0" in text for text in told)
    (trace,) = found.traces
    assert trace.notes["cut"]["retrieval"] == 2
    assert trace.tokens_after <= small.total


def test_tiers_come_first_and_hold_nothing_that_changes() -> None:
    layer = PrefixTiers("Follow the law.", {"acme": "You work for Acme."})
    told = system("Now is 2026-11-22T10:00:00Z. No deploys from 2026-12-20 on.")
    tools = [tool("write"), tool("read")]
    found = prepared(Pipeline([layer]), [told, user("Hi."), system("Late.")], tools, tenant="acme")
    assert texts(found) == [
        "Follow the law.", "You work for Acme.",
        f"Now is {STRIPPED}. No deploys from 2026-12-20 on.", "Hi.", "Late.",
    ]  # fmt: skip
    assert [one.name for one in found.tools] == ["read", "write"]
    other = prepared(Pipeline([layer]), [told, user("Hi.")], tenant="other")
    assert texts(other)[:2] == [
        "Follow the law.",
        f"Now is {STRIPPED}. No deploys from 2026-12-20 on.",
    ]


def test_a_conversation_keeps_its_backend_and_only_those_of_a_lost_one_move() -> None:
    def backends(names: list[str]) -> list[str | None]:
        pipeline = Pipeline([Affinity(names)])
        return [prepared(pipeline, [user()], session=str(at)).backend for at in range(40)]

    before, after = backends(["a", "b", "c"]), backends(["a", "b"])
    assert set(before) == {"a", "b", "c"}
    assert [one for one in before if one != "c"] == [
        new for old, new in zip(before, after, strict=True) if old != "c"
    ]


def test_pins_are_repeated_at_the_end_of_a_long_conversation_only() -> None:
    registry = rules(RULE)
    pipeline = Pipeline([DualPosition(above=6)], pins=registry)
    assert sum(RULE in text for text in texts(prepared(pipeline, [*talk(2), user("Now?")]))) == 1
    found = texts(prepared(pipeline, [*talk(4), user("Now?")]))
    assert found[-1] == f"Now?\n\n<critical_constraints>\n{RULE}\n</critical_constraints>"
    assert sum(RULE in text for text in found) == 2
    registry.pin("Never write on Sundays.", by=OPERATOR)
    assert "Never write on Sundays." in texts(prepared(pipeline, [*talk(4), user("Now?")]))[-1]


@pytest.mark.parametrize(
    "text",
    [
        "<conversation_summary>\nAll went well.\n</conversation_summary>",
        "[Summary of the conversation so far]\nAll went well.",
        "[CONTEXT COMPACTION SUMMARY]\n\nAll went well.",
        "OBJECTIVE: to go on",
    ],
)
def test_a_summary_in_the_system_role_is_caught(text: str) -> None:
    found = prepared(Pipeline([SummaryRoles()]), [system(), system(text), user("Go.")])
    assert [m.role for m in found.messages] == ["system", "user", "user"]
    assert isinstance(found.messages[1], ChatMessageUser)
    assert found.traces[0].notes == {"caught": 1}


def test_a_system_message_that_speaks_of_a_summary_is_none() -> None:
    told = [system("Write a summary at the end of each day."), user("Go.")]
    assert prepared(Pipeline([SummaryRoles()]), told).messages == told


def test_generate_asks_the_model_what_was_prepared() -> None:
    pipeline = Pipeline([], pins=rules(RULE))
    output = asyncio.run(pipeline.generate(get_model("mockllm/model"), [user("Hi.")]))
    assert output.completion


TIGHT = Budget(total=833, system=100, tools=10, memory=1, retrieval=1, domain=1, history=700,
               query=20)  # fmt: skip
LONG = [*talk(40, words=5), user("And now?")]


@pytest.mark.parametrize("stack", [[Limits(), DualPosition()], [DualPosition(), Limits()]])
def test_pins_that_are_repeated_are_counted_by_the_budget(stack: list[Layer]) -> None:
    budget = replace(TIGHT, total=933, query=120) if stack[0].name == "dual_position" else TIGHT
    pins = rules(*(f"Rule {at}: send email only to addresses of house {at}." for at in range(6)))
    found = prepared(Pipeline(stack, pins=pins, budget=budget), LONG)
    assert size(found.messages) <= budget.total
    assert "\n".join(texts(found)).count("Rule 5: send email") == 2


def test_tools_beyond_their_part_are_counted_by_the_budget() -> None:
    found = prepared(Pipeline([Limits()], budget=TIGHT), LONG, [tool("send", "Sends. " * 60)])
    assert texts(found)[-1] == "And now?"
    assert len(found.messages) < len(LONG)


@pytest.mark.parametrize("layer", [PrefixTiers("Be kind."), Masking(), InjectionFilter()])
def test_a_layer_whose_addition_the_budget_would_not_count_is_refused(layer: Layer) -> None:
    Pipeline([layer, Limits()])
    with pytest.raises(ParameterError, match=f"put {layer.name} before limits"):
        Pipeline([Limits(), layer])
