"""An answer from before a policy is never replayed."""

import asyncio
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput, ResponseSchema, get_model
from inspect_ai.tool import ToolFunction
from inspect_ai.util import JSONSchema

from constraintrot.errors import ParameterError
from constraintrot.memory.pipeline import Pipeline
from constraintrot.memory.pipeline.cache import ExactCache, SemanticCache, replayed
from constraintrot.memory.playbook.similarity import Words
from tests.harnesses.messages import result, said, system, user
from tests.memory.pipeline.conversations import OPERATOR, RULE, answer, prepared, rules, talk, tool

QUERIES = ("Send the minutes to Ana.", "Send the minutes to Ana, please.", "Delete the logs.")
POLICIES = ("Never write to Ana.", "Logs are kept for a year.", "Ask before you send.")


def ask(pipeline: Pipeline, messages: list[ChatMessage], text: str = "Done.", **given: Any) -> str:
    found = prepared(pipeline, messages, **given)
    return found.answered(found.answer or answer(text)).completion


def test_the_same_request_is_answered_once() -> None:
    pipeline = Pipeline([ExactCache()])
    assert ask(pipeline, [user("Hi.")], "first") == "first"
    found = prepared(pipeline, [user("Hi.")])
    assert found.answer is not None
    assert replayed(found.answer) == "exact_cache"
    assert ask(pipeline, [user("Hi.")], "second") == "first"
    assert ask(pipeline, [user("Hi!")], "second") == "second"


def test_a_request_in_other_words_is_answered_by_the_semantic_cache() -> None:
    pipeline = Pipeline([SemanticCache(least=0.5)])
    asked = "What did the porter say about the badges of the day shift?"
    assert ask(pipeline, [user(asked)], "first") == "first"
    assert ask(pipeline, [user(f"Again: {asked}")], "second") == "first"
    assert ask(pipeline, [user(f"Not {asked}")], "third") == "third"
    assert ask(Pipeline([SemanticCache(least=0.5)]), [user(asked)], "new") == "new"


def test_without_its_guard_a_negation_is_no_difference() -> None:
    pipeline = Pipeline([SemanticCache(Words(), least=0.5, guard=False)])
    ask(pipeline, [user("Delete the old logs of the porter.")], "deleted")
    assert ask(pipeline, [user("Never delete the old logs of the porter.")], "kept") == "deleted"


def test_answers_are_not_shared_between_tenants_nor_kept_for_ever() -> None:
    now = [0.0]
    pipeline = Pipeline([ExactCache(ttl=10, clock=lambda: now[0])])
    ask(pipeline, [user("Hi.")], "acme's", tenant="acme")
    assert ask(pipeline, [user("Hi.")], "other's", tenant="other") == "other's"
    now[0] = 9.9
    assert ask(pipeline, [user("Hi.")], "late", tenant="acme") == "acme's"
    now[0] = 10.0
    assert ask(pipeline, [user("Hi.")], "late", tenant="acme") == "late"


def test_a_result_of_a_tool_is_no_request() -> None:
    pipeline = Pipeline([ExactCache(), SemanticCache()])
    messages = [user("Look it up."), said("Looking", "look_up"), result("42")]
    assert ask(pipeline, messages, "first") == "first"
    assert ask(pipeline, messages, "second") == "second"


def test_few_answers_are_kept_where_few_may_be() -> None:
    cache = ExactCache(most=2)
    pipeline = Pipeline([cache])
    for text in ("a", "b", "c"):
        ask(pipeline, [user(text)], text)
    assert [ask(pipeline, [user(text)], "new") for text in ("b", "c", "a")] == ["b", "c", "new"]
    with pytest.raises(ParameterError, match="at least one"):
        ExactCache(most=0)


def test_a_rule_that_was_only_said_changes_the_key_too() -> None:
    for cache in (ExactCache(), SemanticCache()):
        pipeline = Pipeline([cache])
        ask(pipeline, [system(), user(QUERIES[0])], "sent")
        told = [system(), user(RULE), said("Noted."), user(QUERIES[0])]
        assert ask(pipeline, told, "declined") == "declined"


def test_a_key_of_the_request_alone_replays_an_answer_from_before_a_policy() -> None:
    registry = rules()
    for cache in (ExactCache(keyed="query"), SemanticCache(keyed="query")):
        pipeline = Pipeline([cache], pins=registry)
        ask(pipeline, [user(QUERIES[0])], "sent")
        block = registry.pin(POLICIES[0], by=OPERATOR)
        assert ask(pipeline, [user(QUERIES[0])], "declined") == "sent"
        registry.evict(block.id, by=OPERATOR, force=True)


_steps = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), st.sampled_from(QUERIES), st.booleans()),
        st.tuples(st.just("pin"), st.sampled_from(POLICIES), st.booleans()),
        st.tuples(st.just("say"), st.sampled_from(POLICIES), st.booleans()),
    ),
    max_size=12,
)


@given(_steps)
def test_an_answer_is_only_replayed_under_the_policies_that_it_was_given_under(
    steps: list[tuple[str, str, bool]],
) -> None:
    registry = rules()
    pipeline = Pipeline([ExactCache(), SemanticCache(least=0.3)], pins=registry)
    pinned: dict[str, UUID] = {}
    said_before: list[ChatMessage] = talk(1)
    for what, text, flag in steps:
        if what == "pin" and text not in pinned:
            pinned[text] = registry.pin(text, by=OPERATOR).id
        elif what == "pin" and flag:
            registry.evict(pinned.pop(text), by=OPERATOR, force=True)
        elif what == "say":
            said_before = [*said_before, user(text), said("Noted.")]
        else:
            # The model's answer tells what was in force when it was given.
            state = f"{sorted(pinned)} {[m.text for m in said_before]}"
            assert ask(pipeline, [*said_before, user(text)], state) == state


CONFIGS = [
    {"config": GenerateConfig(temperature=1.0)},
    {"config": GenerateConfig(max_tokens=5)},
    {"config": GenerateConfig(seed=1)},
    {"config": GenerateConfig(stop_seqs=["."])},
    {"config": GenerateConfig(reasoning_effort="high")},
    {"config": GenerateConfig(response_schema=ResponseSchema(name="a", json_schema=JSONSchema()))},
    {"tool_choice": "none"},
    {"tool_choice": ToolFunction("send")},
]


@pytest.mark.parametrize("cache", [ExactCache, SemanticCache])
@pytest.mark.parametrize("given", CONFIGS)
def test_an_answer_is_only_replayed_to_who_asks_in_the_same_way(
    cache: Any, given: dict[str, Any]
) -> None:
    said = ["first", "second"]
    model = get_model("mockllm/model", custom_outputs=lambda *_: answer(said.pop(0)))
    pipeline = Pipeline([cache()])

    def asked(**how: Any) -> str:
        messages = [user("What did the porter say?")]
        return asyncio.run(pipeline.generate(model, messages, [tool("send")], **how)).completion

    assert asked() == "first"
    assert asked(tool_choice=None, config=GenerateConfig()) == "first"
    assert asked(**given) == "second"
    assert asked(**given) == "second"
    assert asked() == "first"


@pytest.mark.parametrize("cache", [ExactCache, SemanticCache])
def test_a_model_that_samples_in_another_way_by_itself_is_another(cache: Any) -> None:
    pipeline = Pipeline([cache()])
    left = ["cold", "hot"]

    def say(*_: Any) -> ModelOutput:
        return answer(left.pop(0))

    def asked(temperature: float) -> str:
        config = GenerateConfig(temperature=temperature)
        model = get_model("mockllm/model", config=config, custom_outputs=say, memoize=False)
        return asyncio.run(pipeline.generate(model, [user("Hi.")])).completion

    assert [asked(0.0), asked(0.0), asked(1.0)] == ["cold", "cold", "hot"]


@pytest.mark.parametrize("cache", [ExactCache, SemanticCache])
def test_who_prepares_a_request_says_what_else_its_answer_depends_on(cache: Any) -> None:
    pipeline = Pipeline([cache()])
    assert ask(pipeline, [user("Hi.")], "cold", settings="temperature 0") == "cold"
    assert ask(pipeline, [user("Hi.")], "hot", settings="temperature 1") == "hot"
    assert ask(pipeline, [user("Hi.")], "late", settings="temperature 0") == "cold"
    assert ask(pipeline, [user("Hi.")], "new", settings=None) == "new"
    assert ask(pipeline, [user("Hi.")], "newer", settings=None) == "newer"
