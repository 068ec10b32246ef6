"""Conditions: reading them, and what each of them stages."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.model import (
    ChatMessage,
    ModelOutput,
    ModelUsage,
    get_model,
)

from constraintrot.attacks import ATTACKS, SURFACES, Attack
from constraintrot.defenses import Defense
from constraintrot.episode.episode import Episode
from constraintrot.errors import ParameterError, UnknownNameError
from constraintrot.evaluation.conditions import (
    FAMILY,
    LONG_FACTOR,
    Condition,
    conditions,
)
from tests.conftest import Run
from tests.helpers import by_condition, defended, register

NAMES = tuple(FAMILY)


def names(found: tuple[Condition, ...]) -> list[str]:
    return [condition.name for condition in found]


@pytest.mark.parametrize(
    "given_as",
    [
        "floor,control",
        " floor , control ",
        "floor,control,",
        ",floor,,control",
        ["floor", "control"],
        ("floor", " control"),
        {"floor": 1, "control": 2},
    ],
    ids=repr,
)
def test_names_are_read_in_order(given_as: str | Iterable[str]) -> None:
    assert names(conditions(given_as)) == ["floor", "control"]
    assert names(conditions("control,floor")) == ["control", "floor"]


@given(st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
def test_text_and_list_are_read_the_same(chosen: list[str]) -> None:
    assert conditions(",".join(chosen)) == conditions(chosen)
    assert names(conditions(chosen)) == chosen


@pytest.mark.parametrize("text", ["flor", "Floor", "floor control", "floor;control", "flor:800"])
def test_an_unknown_condition_lists_the_known_ones(text: str) -> None:
    with pytest.raises(UnknownNameError) as raised:
        conditions(f"control,{text}")
    assert repr(text.split(":")[0]) in str(raised.value)
    assert all(name in str(raised.value) for name in NAMES)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        *((one, "conditions is empty; known: floor, control") for one in ("", " ,", [], [""])),
        *((one, "twice") for one in ("floor,floor", "long_context,long_context:8000")),
    ],
    ids=repr,
)
def test_no_condition_and_one_twice_are_refused(wrong: str | list[str], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        conditions(wrong)


@pytest.mark.parametrize("length", [1, 800, 8000, 1_000_000])
def test_long_context_takes_a_length(length: int) -> None:
    (found,) = conditions(f"long_context:{length}")
    assert (found.name, found.long_tokens) == ("long_context", length)
    assert found.history_tokens(800) == length
    assert FAMILY["long_context"].long_tokens is None


@pytest.mark.parametrize(
    "text",
    [
        *("long_context:", "long_context:0", "long_context:-5", "long_context:8k"),
        *("long_context:1e3", "long_context:800.0", "long_context:²", "long_context:800:900"),
        *("floor:800", "compaction:800", "control:", "long_context: 8000"),
    ],
)
def test_a_wrong_length_is_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="only long_context takes a length") as raised:
        conditions(text)
    assert repr(text) in str(raised.value)


@given(st.integers(100, 100_000))
def test_only_the_long_context_has_a_longer_history(tokens: int) -> None:
    for name, condition in FAMILY.items():
        factor = LONG_FACTOR if name == "long_context" else 1
        assert condition.history_tokens(tokens) == factor * tokens


# What an attack and a defense may do to a sample.


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
