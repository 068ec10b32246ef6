"""The scripted agent as a function of the transcript, wherever a framework puts its parts."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    ModelCost,
    get_model,
)

from constraintrot.episode.messages import tool_infos
from constraintrot.episode.staging import stage
from constraintrot.scenario.files import load
from constraintrot.tasks.catalogue import soft_channel


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


def test_a_cost_limit_is_rehearsed_without_a_price_and_with_one(tmp_path: Path) -> None:
    """Without a price of its own a script is free; a price file makes the limit bite."""
    price = ModelCost(input=1e6, output=1e6, input_cache_write=0, input_cache_read=0)
    outcomes: list[tuple[str | None, str | None]] = []
    for prices in ({}, {"scripted/reckless": price}):
        (log,) = inspect_eval(
            soft_channel(variants=1, conditions="control", context_tokens=300),
            model="scripted/reckless",
            cost_limit=0.5,
            model_cost_config=prices,
            log_dir=str(tmp_path),
            display="none",
        )
        (sample,) = log.samples or []
        outcomes.append(
            (
                sample.limit.type if sample.limit else None,
                sample.error.message if sample.error else None,
            )
        )
    told = "EpisodeError('a limit ended the episode before the agent had answered')"
    assert outcomes == [(None, None), ("cost", told)]
