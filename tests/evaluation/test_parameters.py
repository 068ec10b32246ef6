"""Task parameters: the defaults, and that no wrong value gets past the start."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai._util.error import PrerequisiteError

from constraintrot import attacks
from constraintrot.compactors import COMPACTORS, MAX_WORDS, MIN_WORDS, Settings, resolve
from constraintrot.compactors.prompts import PRESETS
from constraintrot.episode.channels import CHANNELS
from constraintrot.errors import ParameterError
from constraintrot.evaluation.conditions import conditions
from constraintrot.evaluation.defense import parse_defense
from constraintrot.evaluation.harness import parse_harness
from constraintrot.evaluation.parameters import SCAFFOLDS, Parameters, TaskParameters, read
from constraintrot.evaluation.play_settings import PlaySettings
from constraintrot.runs.plan import task_named
from constraintrot.scenario.schema import LOCALES, WORDINGS


def plays(named: str, settings: Settings) -> tuple[PlaySettings, ...]:
    """Conditions without attack and defense."""
    chosen = resolve(settings), attacks.read("none"), parse_defense("none")
    return tuple(PlaySettings(condition, *chosen) for condition in conditions(named))


DEFAULTS = Parameters(
    plays=plays("floor,control,compaction", Settings("summarize", "tight", 60, None)),
    rounds=1,
    context_tokens=2000,
    channel="user",
    wording="declarative",
    locale="en",
    variants=4,
    seed=0,
    split="held_out",
    exercised=2,
    probe=False,
    scaffold=None,
    distractors=0,
    harness=parse_harness("replay"),
)
LEAST = {"rounds": 1, "context_tokens": 100, "variants": 1, "seed": 0, "compact_at": 1}
WHOLE = [*LEAST, "exercised", "distractors", "steps", "budget_words"]
NAMED = {
    "compactor": "truncate",
    "channel": "system",
    "wording": "reminder",
    "locale": "zh",
    "split": "tuning",
    "attack": "none",
    "defense": "none",
    "harness": "replay",
    "scaffold": "deliberate",
    "prompt": "neutral",
}


def test_defaults() -> None:
    assert read({}) == DEFAULTS


@pytest.mark.parametrize(
    "name", ["prompt", "budget_words", "compact_at", "scaffold", "compactor", "attack", "harness"]
)
def test_none_is_the_default(name: str) -> None:
    assert read({name: None}) == DEFAULTS


def test_every_parameter_arrives() -> None:
    own = {"conditions": "control,long_context:8000", "compactor": "summarize", "prompt": "handoff",
           "budget_words": 40, "compact_at": 2000, "attack": "none", "defense": "none",
           "harness": "replay"}  # fmt: skip
    same: dict[str, Any] = {
        "context_tokens": 4000, "channel": "tool", "wording": "consequence", "locale": "es",
        "variants": 7, "seed": 11, "split": "tuning", "exercised": 3, "probe": True,
        "scaffold": "deliberate", "distractors": 15,
    }  # fmt: skip
    wanted = plays("control,long_context:8000", Settings("summarize", "handoff", 40, 2000))
    assert read({**own, **same}) == replace(DEFAULTS, plays=wanted, **same)


def test_rounds_arrive() -> None:
    assert read({"rounds": 3}).rounds == 3


@pytest.mark.parametrize("unknown", ["condition", "Rounds", "temperature", ""])
def test_an_unknown_parameter_lists_the_known_ones(unknown: str) -> None:
    with pytest.raises(ParameterError) as raised:
        read({unknown: 1, "seed": 1})
    assert f"unknown task parameter {unknown!r}; known: " in str(raised.value)
    assert all(name in str(raised.value) for name in TaskParameters.__annotations__)


def test_all_unknown_parameters_are_told_at_once() -> None:
    with pytest.raises(ParameterError, match="'colour', 'depth'"):
        read({"depth": 1, "colour": 2})


def test_all_wordings_take_turns_seed_by_seed() -> None:
    every = read({"wording": "all"})
    assert [every.wording_of(seed) for seed in range(8)] == [*WORDINGS, *WORDINGS]
    assert {read({"wording": "reminder"}).wording_of(seed) for seed in range(8)} == {"reminder"}


# Names.


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("compactor", COMPACTORS.names()),
        ("channel", CHANNELS.names()),
        ("wording", WORDINGS),
        ("locale", LOCALES),
        ("scaffold", SCAFFOLDS),
        ("prompt", list(PRESETS)),
        ("attack", ["none"]),
        ("defense", ["none"]),
        ("harness", ["replay"]),
    ],
)
@pytest.mark.parametrize("wrong", ["nothing", "", "NONE", 3, True, ["user"], {}], ids=repr)
def test_an_unknown_name_lists_the_known_ones(name: str, known: list[str], wrong: object) -> None:
    with pytest.raises(ParameterError) as raised:
        read({name: wrong})
    message = str(raised.value)
    assert message.startswith(f"unknown {name} ")
    assert str(wrong) in message
    assert all(choice in message for choice in known)


@pytest.mark.parametrize("name", NAMED)
def test_a_known_name_is_taken(name: str) -> None:
    found = read({name: NAMED[name]})
    play = found.plays[0]
    if name == "prompt":
        neutral = Settings("summarize", "neutral", 60, None)
        assert found == replace(DEFAULTS, plays=plays("floor,control,compaction", neutral))
    elif name == "compactor":
        truncate = Settings("truncate")
        assert found == replace(DEFAULTS, plays=plays("floor,control,compaction", truncate))
    elif name in ("attack", "defense"):
        assert str(getattr(play, name)) == NAMED[name]
    else:
        assert str(getattr(found, name)) == NAMED[name]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        *((name, f"unknown {name} None") for name in ("channel", "wording", "locale")),
        *((name, f"{name} must be a whole") for name in ("rounds", "variants", "seed")),
    ],
)
def test_what_has_no_meaning_for_none_cannot_be_left_empty(name: str, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        read({name: None})


# Numbers.


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("wrong", [True, False, 1.5, 200.0, "200", "", [200], -1], ids=repr)
def test_only_a_whole_number_in_range_is_one(name: str, wrong: object) -> None:
    with pytest.raises(ParameterError, match=f"{name} must be a whole number") as raised:
        read({name: wrong})
    assert repr(wrong) in str(raised.value)


@pytest.mark.parametrize("name", LEAST)
def test_the_least_of_a_number(name: str) -> None:
    least = LEAST[name]
    found = read({name: least})
    assert (
        found.plays[0].compactor.settings.compact_at
        if name == "compact_at"
        else getattr(found, name)
    ) == least
    with pytest.raises(ParameterError, match=f"{name} must be a whole number of {least} or more"):
        read({name: least - 1})


@given(st.integers(-10, 400))
def test_the_word_budget_has_two_ends(words: int) -> None:
    if MIN_WORDS <= words <= MAX_WORDS:
        assert read({"budget_words": words}).plays[0].compactor.settings.budget_words == words
    else:
        with pytest.raises(ParameterError, match="budget_words must be"):
            read({"budget_words": words})


# What must fit together.


@given(st.integers(100, 3000), st.integers(1, 3000))
def test_the_history_must_outgrow_compact_at(context_tokens: int, compact_at: int) -> None:
    asked = {"context_tokens": context_tokens, "compact_at": compact_at}
    if context_tokens > compact_at:
        assert read(asked).plays[0].compactor.settings.compact_at == compact_at
    else:
        with pytest.raises(ParameterError, match="must be above compact_at") as raised:
            read(asked)
        assert f"({context_tokens})" in str(raised.value)
        assert f"({compact_at})" in str(raised.value)


@pytest.mark.parametrize("compactor", ["summarize", "hierarchical"])
def test_a_budget_above_the_history_is_refused(compactor: str) -> None:
    asked = {"compactor": compactor, "budget_words": 300}
    with pytest.raises(ParameterError, match="about 400 tokens, which context_tokens=400"):
        read({**asked, "context_tokens": 400})
    assert read({**asked, "context_tokens": 401}).context_tokens == 401
    # Nothing is summarised there.
    assert read({**asked, "context_tokens": 300, "conditions": "control"}).context_tokens == 300


@pytest.mark.parametrize("value", ["yes", 1, "true"])
def test_decline_tool_is_true_or_false(value: object) -> None:
    assert read({"decline_tool": False}).decline_tool is False
    assert read({}).decline_tool is None
    with pytest.raises(ParameterError, match="decline_tool must be true or false"):
        read({"decline_tool": value})


def test_the_default_history_counts_too() -> None:
    with pytest.raises(ParameterError, match=r"context_tokens \(2000\) must be above"):
        read({"compact_at": 2000})
    assert read({"compact_at": 1999}).plays[0].compactor.settings.compact_at == 1999
    # What an attack adds may be what takes it over, but no attack does so in `compaction`.
    bulk = {"compact_at": 2500, "conditions": "control,attack_volume"}
    assert read(bulk).plays[0].compactor.settings.compact_at == 2500
    with pytest.raises(ParameterError, match="must be above"):
        read(bulk | {"conditions": "control,compaction,attack_volume"})


@pytest.mark.parametrize("name", ["truncate", "head_tail", "playbook_append"])
@pytest.mark.parametrize("asked", [{"prompt": "tight"}, {"budget_words": 60}], ids=str)
def test_a_compactor_takes_only_what_it_has_a_use_for(name: str, asked: dict[str, object]) -> None:
    with pytest.raises(
        ParameterError, match=f"compactor {name} has no use for {next(iter(asked))}"
    ):
        read({"compactor": name, **asked})
    assert read({"compactor": name}).plays[0].compactor.settings == Settings(name)


# Conditions.


@pytest.mark.parametrize("asked", ["floor,control", ["floor", "control"], ("floor", "control")])
def test_conditions_are_text_or_a_list(asked: object) -> None:
    assert read({"conditions": asked}).conditions == conditions("floor,control")


@pytest.mark.parametrize("wrong", [None, 3, True, {"floor": 1}])
def test_what_names_no_conditions_is_refused(wrong: object) -> None:
    with pytest.raises(ParameterError, match="must be names, comma-separated"):
        read({"conditions": wrong})


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (
            {"conditions": "defense_pin", "defense": "spotlight"},
            "defense=spotlight would be played",
        ),
        (
            {"conditions": "attack_inject", "attack": "volume"},
            "attack=volume would be played in no",
        ),
        ({"conditions": "long_context:1000001"}, "1,000,001 tokens of history"),
        ({"conditions": "long_context", "context_tokens": 200_001}, "1,000,005 tokens of history"),
    ],
)
def test_what_would_be_played_nowhere_or_fit_no_window_is_refused(
    asked: dict[str, Any], told: str
) -> None:
    with pytest.raises(ParameterError, match=told):
        read(asked)
    assert read({**asked, "conditions": "control", "context_tokens": 2000}).plays


@pytest.mark.parametrize(
    ("task", "asked"),
    [("suite", {"families": 5}), ("qualification", {"families": 5}), ("mine", {"scenario": 5})],
)
def test_names_that_are_none_are_refused_in_a_sentence(task: str, asked: dict[str, Any]) -> None:
    with pytest.raises(PrerequisiteError, match=r"must (be|name)"):
        task_named(f"constraintrot/{task}", asked)
