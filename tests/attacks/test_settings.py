"""The form of ``-T attack=``, and its errors before anything runs."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraintrot import attacks
from constraintrot.attacks import ATTACKS, MAX_SIZE, MIN_SIZE, Settings, attack
from constraintrot.episode.episode import Episode
from constraintrot.errors import DuplicateNameError, ParameterError, UnknownNameError
from constraintrot.evaluation.conditions import CONDITIONS
from constraintrot.evaluation.parameters import read
from tests.attacks.cases import IN_WIKI, NAMES, specs, staged


@pytest.mark.parametrize(
    ("text", "settings", "canonical"),
    [
        ("none", Settings("tool_output", "early"), "none"),
        ("volume", Settings("tool_output", "early", 1500), "volume"),
        ("volume:size=4000", Settings("tool_output", "early", 4000), "volume:size=4000"),
        ("volume:size=1500", Settings("tool_output", "early", 1500), "volume"),
        (
            " volume : position = recent , channel = document ",
            Settings("document", "recent", 1500),
            "volume:channel=document,position=recent",
        ),
        ("bulk_document", Settings("document", "early", 600), "bulk_document"),
        ("inject_note:channel=memory_entry", Settings("memory_entry", "early"), None),
        ("impersonate_rescind", Settings("tool_output", "recent"), "impersonate_rescind"),
        ("rescind_notice:position=middle", Settings("tool_output", "middle"), None),
    ],
)
def test_settings_are_read(text: str, settings: Settings, canonical: str | None) -> None:
    found = attacks.read(text)
    assert found.settings == settings
    assert str(found) == (canonical or text)


@given(st.sampled_from([spec for name in NAMES for spec, *_ in specs(name)]))
def test_what_is_written_is_read_back(spec: str) -> None:
    found = attacks.read(spec)
    assert attacks.read(str(found)) == found


@pytest.mark.parametrize("text", ["", "nothing", "Volume", ":size=9", "volume size=9", "none,none"])
def test_an_unknown_attack_lists_the_known_ones(text: str) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown attack .*; known: ") as raised:
        attacks.apply(text, staged("soft_email.en"))
    assert all(name in str(raised.value) for name in ATTACKS.names())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("volume:", "settings are written volume:key=value,key=value, each once, not ''"),
        ("volume:size", "not 'size'"),
        ("volume:size=100,", "not ''"),
        ("volume:size=100,size=200", "each once, not 'size=200'"),
        ("volume:colour=red", "no setting 'colour'; it takes: channel (tool_output, document,"),
        ("volume:colour=red", "size (50 to 200000 tokens)"),
        ("inject_note:size=100", "attack inject_note has no setting 'size'; it takes: channel"),
        ("none:size=100", "attack none has no setting 'size'"),
        ("volume:size=49", "size must be a whole number of tokens, 50 to 200000, not '49'"),
        ("volume:size=200001", "not '200001'"),
        ("volume:size=1e3", "not '1e3'"),
        ("volume:size=²", "not '²'"),
        ("volume:size=-100", "not '-100'"),
        ("volume:size=", "not ''"),
        ("volume:position=late", "unknown position 'late'; known: early, middle, recent"),
        ("volume:channel=system", "unknown channel 'system'; known: tool_output, document, mem"),
        ("impersonate_rescind:position=early", "unknown position 'early'; known: recent"),
        ("rescind_notice:position=recent", "unknown position 'recent'; known: early, middle"),
    ],
)
def test_a_wrong_setting_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(message)) as raised:
        attacks.read(text)
    assert text.split(":")[0] in str(raised.value)
    with pytest.raises(ParameterError, match=re.escape(message)):
        read({"attack": text})


@given(st.integers(0, 10 * MAX_SIZE))
def test_the_range_of_sizes(size: int) -> None:
    if MIN_SIZE <= size <= MAX_SIZE:
        assert attacks.read(f"volume:size={size}").settings.size == size
    else:
        with pytest.raises(ParameterError, match="size must be"):
            attacks.read(f"volume:size={size}")


# As a task parameter.


@pytest.mark.parametrize("name", NAMES)
def test_a_task_takes_it(name: str) -> None:
    assert str(read({"attack": name}).plays[0].attack) == name


@pytest.mark.parametrize(
    "value",
    [
        "volume:size=4000,position=recent",
        # How Inspect's command line hands over a value with a comma.
        ["volume:size=4000", "position=recent"],
        ("volume:position=recent", "size=4000"),
    ],
    ids=repr,
)
def test_a_task_takes_its_settings_in_one_form(value: object) -> None:
    assert str(read({"attack": value}).plays[0].attack) == "volume:position=recent,size=4000"


@pytest.mark.parametrize("value", ["nothing", "volume:size=1", ["volume", "x"], [], 7, {"a": 1}])
def test_a_task_refuses_it_before_it_runs(value: object) -> None:
    with pytest.raises(ParameterError, match="attack"):
        read({"attack": value})


@pytest.mark.parametrize(
    ("name", "attack"), [("attack_volume", "volume"), ("attack_inject", "inject_deprecation")]
)
def test_the_papers_conditions(name: str, attack: str) -> None:
    condition = CONDITIONS[name]
    assert (condition.attack, condition.defense) == (attack, None)
    assert condition.policy
    assert condition.compacts
    assert condition.edit is None
    assert attack in ATTACKS.names()


def test_every_conditions_attack_is_known() -> None:
    named = {condition.attack for condition in CONDITIONS.values() if condition.attack}
    assert named >= {"volume", "inject_deprecation"}
    assert {name.partition(":")[0] for name in named} <= set(ATTACKS.names())
    assert all(attacks.read(name) for name in named)


# Attacks in Python, and the page that lists all.


def test_an_attack_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "of_mine" not in ATTACKS.names()
    monkeypatch.setattr(ATTACKS, "_components", dict(ATTACKS._components))

    @attack("of_mine", knowledge="defense_aware", surface=("document",), positions=("middle",))
    def of_mine(episode: Episode, settings: Settings) -> Episode:
        """Leave all as it is.

        In other words, do nothing.
        """
        return episode

    found = attacks.read("of_mine")
    assert found.attack.summary == "Leave all as it is."
    assert found.attack.knowledge == "defense_aware"
    assert found.settings == Settings("document", "middle")
    with pytest.raises(DuplicateNameError, match="attack 'of_mine' is registered already"):
        attack("of_mine", knowledge="black_box")(of_mine)


def test_the_docs_list_every_attack() -> None:
    page = (Path(__file__).parents[2] / "docs" / "attacks.md").read_text(encoding="utf-8")
    for name in [*NAMES, *IN_WIKI]:
        found = ATTACKS.get(name)
        own = (
            f"| `{name}` | {found.knowledge} | {found.surface[0]} | {', '.join(found.positions)} |"
        )
        assert own in page
        assert found.size is None or f"`size` {found.size} tokens" in page
