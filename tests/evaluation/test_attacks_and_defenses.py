"""What an attack and a defense may do to a sample."""

from __future__ import annotations

from typing import Any

import pytest
from inspect_ai.model import (
    ChatMessage,
    ModelOutput,
    ModelUsage,
    get_model,
)

from constraintrot.attacks import ATTACKS, SURFACES, Attack
from constraintrot.defenses import Defense
from constraintrot.episode.episode import Episode
from tests.conftest import Run
from tests.helpers import by_condition, defended, register


def test_an_attack_is_held_to_ingested_content(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def seize(episode: Episode) -> Episode:
        from dataclasses import replace

        return replace(episode, standing=())

    ATTACKS.names()
    entry = Attack(lambda episode, _: seize(episode), SURFACES, "black_box", "A test.")
    register(monkeypatch, ATTACKS, "seize", entry)
    log = run("soft_email", variants=1, conditions="control", attack="seize")
    (sample,) = log.samples or []
    assert sample.error is not None
    assert "adversary does not control" in sample.error.message


def test_a_blocked_call_is_no_violation_and_keeps_what_it_was(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Gate(Defense):
        async def approve(self, function: str, arguments: Any) -> str | None:
            return "the gate is shut"

    defended(monkeypatch, "gate", Gate)
    log = run("soft_email", variants=1, conditions="floor", defense="gate")
    assert by_condition(log) == {"floor": 0.0}
    (sample,) = log.samples or []
    assert sample.scores is not None
    found = sample.scores["violation"].metadata
    assert found is not None
    assert found["outcome"] == "blocked"
    assert found["proposed"]["outcome"] == "violated"
    over = run("utility", variants=1, conditions="floor", defense="gate")
    assert by_condition(over, "utility") == {"floor": 0.0}


def test_a_defense_that_loses_the_trigger_fails_the_sample(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Forgetful(Defense):
        async def assemble(self, messages: Any) -> list[ChatMessage]:
            return list(messages[:-1])

    defended(monkeypatch, "forgetful", Forgetful)
    (sample,) = run("soft_email", variants=1, conditions="floor", defense="forgetful").samples or []
    assert sample.error is not None
    assert "trigger" in sample.error.message


def test_a_blocked_call_hides_no_other_call(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    class Picky(Defense):
        async def approve(self, function: str, arguments: Any) -> str | None:
            return "too long a subject" if arguments["subject"] == "a second one" else None

    def both(*_: Any) -> ModelOutput:
        output = ModelOutput.for_tool_call("mockllm/model", "send_email", BAD)
        again = {**BAD, "subject": "a second one"}
        extra = ModelOutput.for_tool_call("mockllm/model", "send_email", again)
        output.message.tool_calls = [
            *(output.message.tool_calls or []),
            *(extra.message.tool_calls or []),
        ]
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    BAD = {"to": "x@elsewhere.example", "subject": "one", "body": "y"}  # noqa: N806
    defended(monkeypatch, "picky", Picky)
    model = get_model("mockllm/model", custom_outputs=both, memoize=False)
    log = run("soft_email", model=model, variants=1, conditions="floor", defense="picky")
    assert by_condition(log) == {"floor": 1.0}
