"""Calls that read the same history send the same bytes first, so that a provider can cache them."""

from __future__ import annotations

import json
from itertools import takewhile
from typing import Any

import pytest

from tests.conftest import Run
from tests.helpers import samples
from tests.stub_openai import serving

SUMMARY, ACT, RECALL = "Write a summary", "Answer with one tool call", "Copy each one word for word"


def sent(run: Run, monkeypatch: pytest.MonkeyPatch, **given: Any) -> list[str]:
    """The messages of each request that the provider received, as JSON."""
    with serving() as stub:
        monkeypatch.setenv("STUB_BASE_URL", stub.url)
        monkeypatch.setenv("STUB_API_KEY", "none")
        stub.say("The tasks so far are done.")
        # Inspect keeps a model with its address under its name.
        model = f"openai-api/stub/{stub.url.rpartition(':')[2]}"
        log = run("pin_stress", model, families=["soft_email"], variants=1,
                  context_tokens=2000, attack="none", **given)  # fmt: skip
        assert samples(log)
        return [json.dumps(body["messages"]) for body in stub.requests]


def shared(one: str, other: str) -> float:
    """The part of the shorter text with which both begin."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)) / min(
        len(one), len(other)
    )


def test_the_summarizer_and_the_agent_in_full_view_read_the_same_bytes(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = sent(run, monkeypatch, conditions="control,compaction", defenses=["none", "pin"])
    (summary,) = [one for one in requests if SUMMARY in one[-600:]]
    in_full_view = [one for one in requests if ACT in one[-300:] and len(one) > len(summary)]
    assert len(in_full_view) == 2, "with the pin and without"
    assert max(shared(one, summary) for one in in_full_view) > 0.9
    # A pin stands in the system message, before the history.
    assert min(shared(one, summary) for one in in_full_view) < 0.1


def test_recall_and_answer_of_an_episode_read_the_same_bytes(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = sent(run, monkeypatch, conditions="control", defenses=["none"], scaffold="review")
    recall, act = requests
    assert RECALL in recall
    assert shared(recall, act) > 0.9
