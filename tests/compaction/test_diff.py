"""The diff of a compaction: what was staged beside what the agent is sent."""

from __future__ import annotations

import pytest

from constraintrot.compaction.rounds import diff
from constraintrot.episode.messages import conversation_messages
from constraintrot.episode.staging import stage
from constraintrot.scenario.files import load

EMPTY = "### History before and after compaction\n\n```diff\n\n```"


@pytest.mark.parametrize(
    ("family", "locale"), [("soft_spend", "en"), ("soft_spend", "zh"), ("hard_secret", "en")]
)
def test_a_history_that_is_whole_does_not_differ(family: str, locale: str) -> None:
    episode = stage(load(family, locale).variant(0), policy=True, context_tokens=600)
    sent = conversation_messages(episode)
    assert any(m.role == "tool" for m in sent)
    assert diff(episode, sent) == EMPTY
    shorter = diff(episode, sent[:-1]).splitlines()
    lost = [line for line in shorter if line.startswith("-") and not line.startswith("---")]
    assert len(lost) == len(sent[-1].text.splitlines())
