"""The forms that every adapter stands on: the script, the roles, chat-completions messages."""

import json
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    ModelOutput,
    StopReason,
)
from inspect_ai.model._call_tools import parse_tool_call
from inspect_ai.tool import ToolCall, ToolInfo

from constraintrot import attacks
from constraintrot.episode.messages import conversation_messages, message_texts, tool_infos
from constraintrot.episode.staging import stage
from constraintrot.errors import EpisodeError
from constraintrot.grading.verdict import grade
from constraintrot.harnesses import openai_format, scripted_history
from constraintrot.harnesses.agent_call import read_output
from constraintrot.harnesses.input_checks import roles_problem
from constraintrot.scenario.files import catalogue, load
from tests.harnesses.messages import result, said, system, user

TURNS = st.lists(st.sampled_from(["user", "said", "call", "two calls", "nothing"]), max_size=12)


def conversation(turns: list[str]) -> list[ChatMessage]:
    """A conversation of any shape, in which no text stands twice."""
    messages = [system(), user("request 0")]
    for at, turn in enumerate(turns):
        if turn == "user":
            messages.append(user(f"request {at + 1}"))
        elif turn == "said":
            messages.append(said(f"reply {at}"))
        elif turn == "nothing":
            messages.append(said(""))
        else:
            names = [f"tool_{at}_{number}" for number in range(2 if turn == "two calls" else 1)]
            messages.append(said("" if at % 2 else f"thought {at}", *names))
            messages += [result(f"result of {name}", function=name) for name in names]
    return messages


def calls_of(messages: list[ChatMessageAssistant]) -> list[str]:
    return [call.function for message in messages for call in message.tool_calls or []]


@given(TURNS)
def test_exchanges_lose_no_text_and_keep_the_order_of_calls(turns: list[str]) -> None:
    messages = conversation(turns)
    script = scripted_history.exchanges(messages)
    replies = [reply for exchange in script for reply in exchange.replies]
    spoken = [part for reply in replies for part in reply.text.split("\n\n")]
    assistants = [m for m in messages if isinstance(m, ChatMessageAssistant)]
    assert [e.user.text for e in script] == [m.text for m in messages if m.role == "user"]
    assert {m.text for m in assistants if m.text} <= set(spoken)
    assert calls_of(replies) == calls_of(assistants)
    results = [result.text for exchange in script for result in exchange.results]
    assert results == [m.text for m in messages if m.role == "tool"]
    # A loop ends with a reply that calls nothing, and with no other.
    for exchange in script:
        *before, last = exchange.replies
        assert not last.tool_calls
        assert all(reply.tool_calls for reply in before)
        assert calls_of(list(exchange.replies)) == [r.function for r in exchange.results]


def test_a_request_that_nobody_answered_gets_a_reply_and_every_other_keeps_its_own() -> None:
    script = scripted_history.exchanges([user("one"), user("two"), said("", "look_up"), result()])
    assert [[reply.text for reply in e.replies] for e in script] == [["Done."], ["", "Done."]]
    (exchange,) = scripted_history.exchanges(
        [user(), said("Ready."), said("", "look_up"), result()]
    )
    # What was said before the call is the last that was said, so it ends the exchange.
    assert [reply.text for reply in exchange.replies] == ["", "Ready."]


def test_a_history_that_no_request_begins_is_refused() -> None:
    with pytest.raises(EpisodeError, match="begins with a request"):
        scripted_history.exchanges([system(), said(), user()])


@pytest.mark.parametrize("channel", ["user", "tool", "memory", "system"])
@pytest.mark.parametrize("attack", ["none", "volume", "inject_deprecation:channel=document"])
def test_every_staged_history_is_played_whole(channel: Any, attack: str) -> None:
    episode = stage(load("soft_spend").variant(3), policy=True, channel=channel)
    episode = attacks.apply(attack, episode) if attack != "none" else episode
    history = conversation_messages(episode)
    assert [m.role for m in history].count("system") == 1
    assert scripted_history.system(episode) == history[0].text
    script = scripted_history.exchanges(history)
    whole = "\n".join(
        text for e in script for text in message_texts([e.user, *e.replies, *e.results])
    )
    assert all(text in whole for text in message_texts(history[1:]))
    called = {name for e in script for name in calls_of(list(e.replies))}
    offered = tool_infos(episode.variant.tools)
    made = scripted_history.tools(script, offered, episode.variant.lookups)
    assert {tool.name for tool in made} == called | {tool.name for tool in offered}


@pytest.mark.parametrize("family", catalogue())
def test_a_framework_refuses_no_call_of_the_history(family: str) -> None:
    # It ships no types.
    validator: Any = import_module("jsonschema").Draft7Validator
    for variant in map(load(family).variant, range(8)):
        episode = stage(variant, policy=True, channel="tool", exercised=2)
        script = scripted_history.exchanges(conversation_messages(episode))
        offered = tool_infos(episode.tools)
        made = {t.name: t for t in scripted_history.tools(script, offered, variant.lookups)}
        for call in (c for e in script for reply in e.replies for c in reply.tool_calls or []):
            parameters = made[call.function].parameters
            assert set(call.arguments) <= set(parameters.properties)
            checked = validator(parameters.model_dump(exclude_none=True))
            assert not list(checked.iter_errors(call.arguments)), call


def test_tools_are_made_from_what_calls_look_like() -> None:
    arguments = {"flag": True, "n": 3, "x": 0.5, "name": "a", "many": [1], "deep": {"a": 1}}
    first = ToolCall(id="1", function="look_up", arguments=arguments)
    second = ToolCall(id="2", function="look_up", arguments={"n": "three", "more": None})
    known = ToolCall(id="3", function="decline", arguments={})
    replies = [ChatMessageAssistant(content="", tool_calls=[c]) for c in (first, second, known)]
    script = scripted_history.exchanges([user(), *replies])
    offered = [ToolInfo(name="decline", description="Decline.")]
    decline, tool = scripted_history.tools(script, offered, [])
    assert (decline, tool.name) == (offered[0], "look_up")
    assert {name: schema.type for name, schema in tool.parameters.properties.items()} == {
        "flag": "boolean",
        "n": None,
        "x": "number",
        "name": "string",
        "many": "array",
        "deep": "object",
        "more": "null",
    }
    kinds = tool.parameters.properties["n"].anyOf or []
    assert [schema.type for schema in kinds] == ["integer", "string"]


# Roles.


@pytest.mark.parametrize(
    "messages",
    [
        [user()],
        [system(), user()],
        [system(), user(), said(), user()],
        [user(), said("", "look_up"), result(), said(), user()],
        [user(), said("", "a", "b"), result("1"), result("2"), said(), user()],
        [user(), said("", "a"), result(), said("", "b"), result(), said(), user()],
    ],
)
def test_a_strict_template_takes_turns(messages: list[ChatMessage]) -> None:
    assert roles_problem(messages) is None


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ([], "no message but the system's"),
        ([system()], "no message but the system's"),
        ([system(), system("A summary."), user()], "a system message at 1, not at the start"),
        ([system(), system("A summary.")], "a system message at 1, not at the start"),
        ([user(), said(), system(), user()], "a system message at 2, not at the start"),
        ([system(), said(), user()], "begins with a message of the assistant's"),
        ([result(), said(), user()], "begins with a message of the tool's"),
        ([user(), user()], "two messages of the user's in a row"),
        ([system(), user(), said(), said(), user()], "two messages of the assistant's in a row"),
        ([user(), said("", "a"), said(), user()], "two messages of the assistant's in a row"),
        ([system(), user(), said(), result(), user()], "a tool's result at 3 without its call"),
        ([user(), result(), said()], "a tool's result at 1 without its call"),
        ([user(), said("", "a"), result(), user()], "a request right after a tool's result"),
    ],
)
def test_what_a_strict_template_refuses_is_said(messages: list[ChatMessage], why: str) -> None:
    assert roles_problem(messages) == why


ROLES = st.lists(st.sampled_from(["u", "a", "c"]), max_size=8)


@given(ROLES)
def test_a_well_formed_conversation_is_taken_and_with_a_turn_less_it_is_not(
    turns: list[str],
) -> None:
    exchange = {
        "u": [user(), said()],
        "a": [user(), said("", "a"), result(), said()],
        "c": [user(), said("", "a", "b"), result(), result(), said()],
    }
    messages = [system(), *(message for turn in turns for message in exchange[turn]), user()]
    assert roles_problem(messages) is None
    for at, message in enumerate(messages[1:-1], start=1):
        # Of two results of one message, either will do for a template.
        spare = message.role == "tool" and "tool" in (messages[at - 1].role, messages[at + 1].role)
        assert (roles_problem([*messages[:at], *messages[at + 1 :]]) is None) == spare


# Chat-completions messages.


def as_dict(message: ChatMessage) -> dict[str, Any]:
    """A message in the chat-completions form."""
    found: dict[str, Any] = {"role": message.role, "content": message.text}
    if isinstance(message, ChatMessageTool):
        found["tool_call_id"] = message.tool_call_id
    if isinstance(message, ChatMessageAssistant) and message.tool_calls:
        found["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function, "arguments": json.dumps(call.arguments)},
            }
            for call in message.tool_calls
        ]
    return found


def bare(message: ChatMessage) -> dict[str, Any]:
    return message.model_dump(include={"role", "content", "tool_calls", "tool_call_id", "function"})


@given(TURNS)
def test_chat_completions_messages_come_back_as_they_were(turns: list[str]) -> None:
    messages: list[ChatMessage] = []
    for exchange in scripted_history.exchanges(conversation(turns)):
        calls = [call for reply in exchange.replies for call in reply.tool_calls or []]
        messages += [exchange.user, *exchange.replies]
        messages += [
            ChatMessageTool(content=r.text, tool_call_id=call.id, function=call.function)
            for call, r in zip(calls, exchange.results, strict=True)
        ]
    back = openai_format.messages(map(as_dict, messages))
    assert list(map(bare, back)) == list(map(bare, messages))


def test_other_ways_to_write_a_message_are_read() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "look_up", "arguments": {"n": 1}}}
    none = {"id": "2", "type": "function", "function": {"name": "look_up", "arguments": ""}}
    first, second, third = openai_format.messages(
        [
            {"role": "developer", "content": [{"type": "text", "text": "Be"}]},
            {
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "brief"},
                    {"type": "output_text", "text": "please"},
                ],
            },
            {"role": "assistant", "content": None, "tool_calls": [call, none]},
        ]
    )
    assert (first.role, first.text) == ("system", "Be")
    assert second.text == "brief\nplease"
    assert isinstance(third, ChatMessageAssistant)
    assert third.text == ""
    assert [call.arguments for call in third.tool_calls or []] == [{"n": 1}, {}]


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ({"role": "function", "content": "42"}, "role 'function'"),
        ({"role": "user", "content": [{"type": "image_url", "image_url": "x"}]}, "is no text"),
    ],
)
def test_what_these_harnesses_cannot_handle_is_refused(message: dict[str, Any], why: str) -> None:
    with pytest.raises(EpisodeError, match=why):
        openai_format.messages([message])


def test_tools_are_read_with_and_without_their_wrapping() -> None:
    function = {
        "name": "look_up",
        "description": "Look up.",
        "parameters": {
            "type": "object",
            "properties": {"n": {"type": "integer"}},
            "required": ["n"],
        },
    }
    wrapped, plain, bare_one = openai_format.tools(
        [{"type": "function", "function": function}, function, {"name": "now"}]
    )
    assert wrapped == plain
    assert (wrapped.name, wrapped.description) == ("look_up", "Look up.")
    assert wrapped.parameters.properties["n"].type == "integer"
    assert wrapped.parameters.required == ["n"]
    assert (bare_one.name, bare_one.description) == ("now", "now")
    assert not bare_one.parameters.properties


SECRET = load("hard_secret", "en").variant(0)


@pytest.mark.parametrize("encoded", [1, 2])
def test_arguments_that_were_encoded_twice_are_the_same_call(encoded: int) -> None:
    call, tools = SECRET.complying_call, tool_infos(SECRET.tools)
    arguments: Any = call.arguments
    for _ in range(encoded):
        arguments = json.dumps(arguments)
    made = parse_tool_call("1", call.function, arguments, tools)
    output = ModelOutput.for_tool_call("mockllm/model", call.function, {})
    output.message.tool_calls = [made]
    read = read_output(output, tools, "direct")
    assert read.calls == ({"function": call.function, "arguments": call.arguments},)
    assert grade(SECRET, read.calls).outcome == "complied"


@pytest.mark.parametrize("reason", ["content_filter", "model_length", "max_tokens", "unknown"])
def test_a_text_of_the_provider_is_no_refusal(reason: StopReason) -> None:
    output = ModelOutput.from_content("mockllm/model", "I cannot help with that.", reason)
    read = read_output(output, tool_infos(SECRET.tools), "direct")
    assert grade(SECRET, read.calls, fault=read.fault, text=read.prose).outcome == "malformed"


@pytest.mark.parametrize(
    "text",
    [
        "<think>I can't do that, it is against the policy.</think>",
        "<think>I can't do that, it is against the policy.",
        "I can't do that, it is against the policy.\n</think>\n\n",
    ],
)
@pytest.mark.parametrize("scaffold", ["direct", "deliberate"])
def test_a_thought_alone_is_silence(text: str, scaffold: str) -> None:
    read = read_output(
        ModelOutput.from_content("mockllm/model", text), tool_infos(SECRET.tools), scaffold
    )
    assert grade(SECRET, read.calls, fault=read.fault, text=read.prose).outcome == "no_call"


def test_a_refusal_after_a_thought_is_read() -> None:
    text = "<think>Shall I do it?</think>I can't do that, it is against the policy."
    read = read_output(
        ModelOutput.from_content("mockllm/model", text), tool_infos(SECRET.tools), "direct"
    )
    assert read.prose == "I can't do that, it is against the policy."
