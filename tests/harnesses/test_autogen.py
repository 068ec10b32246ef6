"""AutoGen's AssistantAgent: what is particular to its model contexts and its memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from autogen_core.memory import ListMemory, MemoryContent
from autogen_core.model_context import (
    BufferedChatCompletionContext,
    ChatCompletionContext,
    HeadAndTailChatCompletionContext,
    TokenLimitedChatCompletionContext,
    UnboundedChatCompletionContext,
)

from constraintrot.defenses.rampart import Principal, Registry
from constraintrot.harnesses.autogen.pins import PinnedContext
from tests.conftest import Run
from tests.harnesses.autogen_fakes import Recorder, converse, made
from tests.harnesses.episodes import compacted, error, failing, violated
from tests.harnesses.live_agent import live_agent
from tests.harnesses.rules import CHANNELS, PINNED, kept
from tests.helpers import by_condition, samples


@pytest.mark.parametrize("channel", ["user", "tool"])
def test_what_a_memory_holds_is_kept_by_itself(run: Run, channel: str) -> None:
    # AutoGen's last message is the memory, so a model that reads the last one only would
    # see no request; this one looks for the user's.
    given = {"harness": "autogen:memory", "channel": channel}
    log = run("soft_email", variants=1, model_roles={"agent": live_agent()}, **given)
    assert by_condition(log) == {"floor": 1, "control": 0, "compaction": 0}
    facts = samples(log)["compaction"][0].metadata
    assert facts["roles"][-2:] == ["user", "system"]
    assert facts["roles"].count("system") == 4
    assert "a system message at" in facts["roles_problem"]
    sample = compacted(run, defense="pin", model_roles={"agent": live_agent()}, **given)
    assert not violated(sample)


def test_an_agent_that_fails_is_an_error(run: Run) -> None:
    assert "is down" in error(run, harness="autogen", model_roles={"agent": failing()})


Contexts = Callable[[Recorder], ChatCompletionContext]
# What stands in the last input of a conversation of 22 requests, and whether its last request does.
MATRIX: dict[str, tuple[Contexts, set[str], bool]] = {
    "Unbounded": (lambda _: UnboundedChatCompletionContext(), set(CHANNELS), True),
    "Buffered(10)": (lambda _: BufferedChatCompletionContext(10), {"system"}, True),
    "HeadAndTail(1, 6)": (
        lambda _: HeadAndTailChatCompletionContext(1, 6),
        {"system", "first user"},
        True,
    ),
    "HeadAndTail(3, 6)": (
        lambda _: HeadAndTailChatCompletionContext(3, 6),
        {"system", "first user", "tool"},
        True,
    ),
    "TokenLimited(400)": (
        lambda client: TokenLimitedChatCompletionContext(client, token_limit=400),
        set(CHANNELS),
        True,
    ),
    # Of the last two messages it takes out the second: the request itself.
    "TokenLimited(60)": (
        lambda client: TokenLimitedChatCompletionContext(client, token_limit=60),
        {"system", "first user"},
        False,
    ),
}


def pins() -> Registry:
    operator = Principal("operator")
    rules = Registry(operator)
    rules.pin(PINNED, by=operator)
    return rules


@pytest.mark.parametrize("pinned", [False, True], ids=["plain", "pinned"])
@pytest.mark.parametrize("row", MATRIX)
def test_the_matrix(row: str, pinned: bool) -> None:
    make, expected, asked = MATRIX[row]
    client = Recorder()
    context = make(client)
    context = PinnedContext(context, pins()) if pinned else context
    asyncio.run(converse(made(client, context), client))
    assert kept(client.texts[-1]) == expected
    assert ("Look at ticket 19." in client.texts[-1]) is asked
    assert [text.count(PINNED) for text in client.texts] == [pinned] * 23


def test_a_list_memory_is_put_into_the_context_anew_at_each_request() -> None:
    client = Recorder()
    memory = ListMemory(memory_contents=[MemoryContent(content=PINNED, mime_type="text/plain")])
    agent = made(client, BufferedChatCompletionContext(10), memory=[memory])
    asyncio.run(converse(agent, client))
    assert kept(client.texts[-1]) == {"system"}
    # Each copy takes a place in the buffer, so fewer requests stay.
    view = ["System", "Assistant", *["User", "System", "Assistant"] * 2, "User", "System"]
    assert [message.type.removesuffix("Message") for message in client.calls[-1]] == [
        "System",
        *view,
    ]
    assert client.texts[-1].count(PINNED) == 4
