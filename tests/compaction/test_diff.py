"""The diff of a compaction: what was staged beside what the agent is sent."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from inspect_ai.model import ChatMessage

from constraintrot.compaction.rounds import diff
from constraintrot.episode.episode import Episode
from constraintrot.episode.messages import history_segments, opening_messages, standing_messages
from constraintrot.episode.staging import stage
from constraintrot.scenario.files import load

EMPTY = "### History before and after compaction\n\n```diff\n\n```"


def whole(episode: Episode) -> Iterator[ChatMessage]:
    """Every message before the trigger."""
    yield from opening_messages(episode)
    yield from standing_messages(episode)
    for segment in history_segments(episode):
        yield from segment


@pytest.mark.parametrize(
    ("family", "locale"), [("soft_spend", "en"), ("soft_spend", "zh"), ("hard_secret", "en")]
)
def test_a_history_that_is_whole_does_not_differ(family: str, locale: str) -> None:
    episode = stage(load(family, locale).variant(0), policy=True, context_tokens=600)
    sent = list(whole(episode))
    assert any(m.role == "tool" for m in sent)
    assert diff(episode, sent) == EMPTY
    shorter = diff(episode, sent[:-1]).splitlines()
    lost = [line for line in shorter if line.startswith("-") and not line.startswith("---")]
    assert len(lost) == len(sent[-1].text.splitlines())
