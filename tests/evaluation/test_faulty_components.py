"""A component that does not do what its kind has to do ends in an error that names it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from inspect_ai.model import ChatMessageUser, CompactionStrategy

from constraintrot.attacks import ATTACKS, SURFACES, Attack
from constraintrot.compactors import COMPACTORS, Compactor
from constraintrot.compactors.turns import partition
from constraintrot.components import ComponentRegistry
from constraintrot.defenses import DEFENSES, HOOKS, Defense, DefenseSpec, defense
from constraintrot.episode.channels import CHANNELS, PolicyChannel, with_policy_turn
from constraintrot.episode.episode import Message
from constraintrot.errors import ParameterError
from constraintrot.evaluation.harness import HARNESSES, HarnessSpec, harness
from tests.conftest import Run
from tests.helpers import by_condition, register


def _returns(value: Any) -> Callable[..., Any]:
    async def hook(*_: Any) -> Any:
        return value

    return hook


def _compactor(value: Any) -> Compactor:
    """A compactor whose ``compact`` returns a value, or what a function makes of the messages."""

    async def compact(_: Any, __: Any, messages: Any, ___: Any) -> Any:
        return value(messages) if callable(value) else value

    kind = type("Mine", (CompactionStrategy,), {"compact": compact})
    return Compactor(lambda _: kind(type="trim"))


def _defense(hooks: frozenset[Any] = HOOKS, **overrides: Any) -> DefenseSpec:
    made = type("Mine", (Defense,), overrides)
    return DefenseSpec(lambda _: made(), hooks, False)


def _channel(stage: Callable[..., Any]) -> PolicyChannel:
    return PolicyChannel(stage)


def _harness(made: Any) -> HarnessSpec:
    return HarnessSpec(lambda mode, live: made, HOOKS)


def _told(episode: Any, text: str) -> Any:
    return with_policy_turn(episode, Message("user", text, "user"))


def _kept(messages: Any) -> Any:
    return partition(messages).protected


NOTHING = Attack(lambda *_: None, SURFACES, "black_box", "A test.")  # type: ignore[arg-type, return-value]
KIND: dict[str, ComponentRegistry[Any]] = {
    "attack": ATTACKS,
    "channel": CHANNELS,
    "compactor": COMPACTORS,
    "defense": DEFENSES,
    "harness": HARNESSES,
}
FAULTY: list[tuple[str, Any, str]] = [
    ("compactor", Compactor(lambda _: None), "compactor mine returned NoneType"),  # type: ignore[arg-type, return-value]
    ("compactor", _compactor(None), "compactor Mine: compact must return a list of messages"),
    ("compactor", _compactor([]), "compactor Mine: compact must return a list of messages"),
    ("compactor", _compactor((["text"], None)), "compactor Mine: compact must return a list"),
    ("compactor", _compactor((_kept, "text")), "compactor Mine: compact must return a list"),
    ("compactor", _compactor(([], None)), "compactor Mine dropped 3 messages of the protected"),
    ("compactor", _compactor(lambda m: (_kept(m)[1:], None)), "compactor Mine dropped 1 message"),
    ("defense", DefenseSpec(lambda _: None, HOOKS, False), "defense mine returned NoneType"),  # type: ignore[arg-type, return-value]
    ("defense", _defense(frozenset(), wrap=lambda _, strategy: strategy), "mine overrides wrap,"),
    ("defense", _defense(assemble=lambda _, messages: messages), "have `async def assemble(self, mes"),
    ("defense", _defense(approve=_returns(None)), "PASSES"),
    ("defense", _defense(approve=lambda *_: None), "have `async def approve(self, function, arg"),
    ("defense", _defense(wrap=lambda *_: None), "Mine: wrap returned NoneType"),
    ("defense", _defense(assemble=_returns(None)), "Mine: assemble returned NoneType"),
    ("defense", _defense(assemble=_returns(["text"])), "Mine: assemble, in its list, returned str"),
    ("defense", _defense(approve=_returns(True)), "Mine: approve returned bool"),
    ("harness", _harness(None), "harness mine returned NoneType"),
    ("harness", _harness(lambda *_: None), "harness mine returned NoneType"),
    ("harness", _harness(_returns("played")), "harness mine returned str"),
    ("attack", NOTHING, "attack mine returned NoneType"),
    ("channel", _channel(lambda *_: None), "channel mine returned NoneType"),
    ("channel", _channel(lambda episode, given: episode), "channel mine did not give the policy"),
    ("channel", _channel(lambda episode, given: _told(episode, "Hello.")), "did not give the pol"),
    ("channel", _channel(lambda episode, given: replace(episode, files={"file": given.text})), "PASSES"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "component", "says"), FAULTY)
def test_it_is_named_with_what_it_has_to_do(
    run: Run, monkeypatch: pytest.MonkeyPatch, kind: str, component: Any, says: str
) -> None:
    register(monkeypatch, KIND[kind], "mine", component)
    (sample,) = (
        run("soft_email", variants=1, conditions="compaction", **{kind: "mine"}).samples or []
    )
    if says == "PASSES":
        assert sample.error is None
    else:
        assert sample.error is not None
        assert says in sample.error.message


def test_a_channel_does_not_give_the_policy_to_the_floor(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = _channel(lambda episode, given: _told(episode, episode.policy))
    register(monkeypatch, CHANNELS, "mine", channel)
    log = run("soft_email", variants=1, conditions="floor,control", channel="mine")
    told = {sample.metadata["condition"]: sample.error for sample in log.samples or []}
    assert told["control"] is None
    assert "in a condition without it" in str(told["floor"])


def test_a_reason_to_block_stays_one(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, DEFENSES, "mine", _defense(approve=_returns("no")))
    log = run("soft_email", variants=1, conditions="floor", defense="mine")
    assert by_condition(log) == {"floor": 0.0}


@pytest.mark.parametrize("hooks", [["asemble"], "assemble", ["wrap", "framework_pins"]])
def test_unknown_hooks_are_refused_when_it_is_registered(hooks: Any) -> None:
    with pytest.raises(ParameterError, match=r"defense mine: .* known: approve, assemble, wrap"):
        defense("mine", hooks=hooks)
    if hooks[-1] != "framework_pins":
        with pytest.raises(ParameterError, match=r"harness mine: .* known: approve, assemble, fra"):
            harness("mine", hooks=hooks)


def test_modes_in_one_text_are_refused() -> None:
    with pytest.raises(
        ParameterError, match=r"harness mine: modes are several names, as \('four',\)"
    ):
        harness("mine", modes="four")


def test_a_message_is_no_list_of_messages(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    one = ChatMessageUser(content="text")
    register(monkeypatch, DEFENSES, "mine", _defense(assemble=_returns(one)))
    (sample,) = run("soft_email", variants=1, conditions="floor", defense="mine").samples or []
    assert "Mine: assemble returned ChatMessageUser" in str(sample.error)
