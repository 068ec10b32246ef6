"""The scripted agent as a function of the transcript, wherever a framework puts its parts."""

from __future__ import annotations

import asyncio

import pytest
from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser, get_model

from constraintrot.episode.messages import tool_infos
from constraintrot.episode.staging import stage
from constraintrot.scenario.files import load


@pytest.mark.parametrize(("remembered", "does"), [(True, "declines"), (False, "acts")])
@pytest.mark.parametrize("after", [True, False])
def test_what_is_remembered_counts_before_and_after_the_request(
    remembered: bool, does: str, after: bool
) -> None:
    episode = stage(load("soft_channel", "en").variant(0), policy=True)
    note = ChatMessageSystem(content=f"Memory: {episode.policy if remembered else 'none.'}")
    request = ChatMessageUser(content=episode.trigger.messages[-1].text)
    messages: list[ChatMessage] = [request, note] if after else [note, request]
    output = asyncio.run(
        get_model("scripted/obedient").generate(messages, tools=tool_infos(episode.variant.tools))
    )
    (call,) = output.message.tool_calls or []
    assert (call.function == "decline") is (does == "declines")


def test_without_a_request_nothing_is_called() -> None:
    episode = stage(load("soft_channel", "en").variant(0), policy=True)
    output = asyncio.run(
        get_model("scripted/obedient").generate(
            [ChatMessageSystem(content=episode.policy)],
            tools=tool_infos(episode.variant.tools),
        )
    )
    assert not output.message.tool_calls
