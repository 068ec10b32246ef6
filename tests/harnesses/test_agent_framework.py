"""Microsoft's agent-framework: what is particular to its strategies, and to the pins in its client."""

import asyncio
from typing import Any

import pytest
from agent_framework import Agent, Content, Message, chat_middleware
from agent_framework._middleware import ChatMiddlewareLayer

from constraintrot.defenses.pinning.pinned_block import HEADING, PinnedBlock, Receipt
from constraintrot.errors import ParameterError
from constraintrot.harnesses.agent_framework.pins import pinned, pinned_client
from tests.conftest import Run
from tests.harnesses.agent_framework_fakes import (
    Recorder,
    ask,
    calling,
    converse,
    made,
    summarizing,
)
from tests.harnesses.episodes import compacted, violated
from tests.harnesses.rules import OPERATOR, PINNED, registry


@pytest.mark.parametrize("channel", ["user", "memory", "tool"])
def test_tool_results_become_what_the_assistant_said(run: Run, channel: str) -> None:
    sample = compacted(run, harness="agent_framework:tool_result", channel=channel)
    assert not violated(sample)
    assert sample.metadata["dropped"] > 0
    assert sample.metadata["roles_problem"] == "two messages of the assistant's in a row"
    roles = {m.role for m in sample.messages if m.text.startswith("[Tool results: ")}
    assert roles == {"assistant"}


def test_an_empty_registry_changes_nothing() -> None:
    receipts: list[Receipt] = []
    empty = PinnedBlock(registry(), report=receipts.append)
    for options in ({}, {"instructions": None}, {"instructions": "Hi\n"}, {"instructions": ["Hi"]}):
        assert pinned([], options, empty) == ([], options)
    assert {receipt.state for receipt in receipts} == {"absent"}


def test_the_summarizer_is_not_pinned_even_over_the_agent_s_own_client() -> None:
    client = Recorder()
    # The client itself writes the summaries, its pinned copy answers.
    agent = made(pinned_client(client, registry(PINNED)), compaction_strategy=summarizing(client))
    asyncio.run(converse(agent, client))
    summaries = [text for text in client.texts if "Generate a clear" in text]
    assert summaries
    assert all(PINNED not in text for text in summaries)
    assert all(text.count(PINNED) == 1 for text in client.texts if text not in summaries)


def test_a_client_pins_an_agent_called_as_a_tool() -> None:
    client = Recorder()
    sent = pinned_client(client, registry(PINNED))
    clerk: Agent[Any] = Agent(client=sent, name="clerk", instructions="You are a clerk.")
    agent: Agent[Any] = Agent(client=sent, tools=[clerk.as_tool()], instructions="You lead.")
    client.script[:] = [Content.from_function_call("1", "clerk", arguments={"task": "Count."})]
    ask(agent, "Have it counted.")
    assert ["clerk" in text for text in client.texts] == [False, True, False]
    assert [text.count(PINNED) for text in client.texts] == [1, 1, 1]


class ServerSide(Recorder):
    """Keeps the conversation itself: it is sent what is new, and the instructions."""

    STORES_BY_DEFAULT = True

    def _inner_get_response(self, *, stream: bool, **given: Any) -> Any:
        answer = super()._inner_get_response(stream=stream, **given)
        number = len(self.calls)

        async def stored() -> Any:
            response: Any = await answer
            response.conversation_id = f"resp_{number}"
            return response

        return stored()


def test_a_server_that_keeps_the_history_is_not_given_the_pins_to_keep() -> None:
    """Each turn stored a copy, and old ones stayed after an amendment."""
    rules, client = registry(PINNED), ServerSide()
    agent = made(pinned_client(client, rules))

    async def go() -> None:
        session = agent.create_session()
        for number in range(3):
            client.script[:] = [calling("look_up", f"t{number}")]
            await agent.run(f"Look at ticket {number}.", session=session)
        rules.amend(rules.pins()[0].id, "Never restart a server.", by=OPERATOR)
        await agent.run("And again.", session=session)

    asyncio.run(go())
    stored_there = "\n".join(message.text for sent in client.calls for message in sent)
    assert PINNED not in stored_there
    assert HEADING not in stored_there
    assert [text.count(PINNED) for text in client.texts] == [1] * 6 + [0]
    assert "Never restart a server." in client.texts[-1]


def test_middleware_that_replaces_the_instructions_comes_before_the_pins() -> None:
    receipts: list[Receipt] = []

    class Layered(ChatMiddlewareLayer[Any], Recorder):  # type: ignore[misc]  # as in theirs
        """A client that runs chat middleware, as the framework's own do."""

    @chat_middleware
    async def replace(context: Any, call_next: Any) -> None:
        context.options = {**context.options, "instructions": "Something else."}
        await call_next()

    client = Layered(middleware=[replace])
    agent = made(pinned_client(client, registry(PINNED), report=receipts.append))
    ask(agent, "Hello")
    assert client.texts[0].startswith("Something else.\n\n")
    assert client.texts[0].count(PINNED) == 1
    assert [receipt.state for receipt in receipts] == ["injected"]


def test_several_registries_and_instructions_in_parts() -> None:
    first, second = PinnedBlock(registry(PINNED)), PinnedBlock(registry(PINNED))
    client = Recorder()
    agent = Agent(client=pinned_client(pinned_client(client, first), second), instructions="Hi")
    ask(agent, "Hello")
    assert client.texts[0].startswith(f"Hi\n\n{first.text}\n\n{second.text}\n")
    marked = {"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}

    def both(options: dict[str, Any]) -> dict[str, Any]:
        for pinned_block in (first, second):
            _, options = pinned([], options, pinned_block)
        return options

    for parts in (["Hi"], [marked]):
        once = both({"instructions": parts})
        # One part alone: its keys were sent in its place.
        assert both({"instructions": parts[0]})["instructions"] == (
            once["instructions"] if parts[0] is marked else f"Hi\n\n{first.text}\n\n{second.text}"
        )
        assert both(once) == once
        assert once["instructions"][0] == parts[0]
        assert len(once["instructions"]) == 3


def test_a_client_made_anew_by_its_class_is_pinned_too() -> None:
    first, second = registry(PINNED), registry("Never restart a server.")
    client = pinned_client(pinned_client(Recorder(), first), second)
    again = type(client)()
    ask(made(again), "Hello")
    assert [again.texts[0].count(text) for text in (PINNED, "Never restart")] == [1, 1]
    assert type(Recorder()) is Recorder


def test_a_client_of_another_kind_is_refused() -> None:
    with pytest.raises(ParameterError, match="no BaseChatClient"):
        pinned_client(object(), registry(PINNED))


@pytest.mark.parametrize("role", ["system", "developer"])
def test_a_block_in_the_operator_s_message_is_taken_out(role: str) -> None:
    rules, client, receipts = registry(PINNED), Recorder(), list[Receipt]()
    old = PinnedBlock(rules).text
    rules.amend(rules.pins()[0].id, "Never restart a server.", by=OPERATOR)
    given = [Message(role, [f"void: {old}"]), Message(role, [old]), Message("user", [old])]
    sent = pinned_client(client, rules, report=receipts.append)
    asyncio.run(sent.get_response(given))  # type: ignore[arg-type]
    assert [message.text for message in client.calls[0]] == ["void: ", old]
    assert client.texts[0].count("Never restart a server.") == 1
    assert [message.text for message in given] == [f"void: {old}", old, old]
    assert [len(one.removed) for one in receipts] == [2]


def test_an_option_that_would_replace_the_pins_is_refused() -> None:
    options: Any = {"extra_body": {"instructions": "Something else."}}
    with pytest.raises(ParameterError, match="'instructions'"):
        pinned([], options, PinnedBlock(registry(PINNED)))
    assert pinned([], options, PinnedBlock(registry())) == ([], options)
