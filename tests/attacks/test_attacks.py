"""Every attack's texts, their places, and all that it leaves alone."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraintrot import attacks
from constraintrot.attacks import ATTACKS, POSITIONS, SURFACES
from constraintrot.compactors import RECENT_TURNS
from constraintrot.episode.attack_check import check_attacked
from constraintrot.episode.channels import CHANNELS
from constraintrot.episode.episode import Episode, Turn
from constraintrot.errors import EpisodeError
from constraintrot.models.scripted.policy_reader import policy_in
from constraintrot.models.scripted.request_parser import open_slots
from constraintrot.rule_text.survival import best_window, mentions
from constraintrot.scenario.schema import LOCALES, WORDINGS
from constraintrot.scenario.template import names
from constraintrot.tokens import count
from tests.attacks.cases import FILES, NAMES, file_of, specs, staged, texts, written
from tests.helpers import soaked

THE_PAPERS = {
    *("volume", "inject_deprecation", "inject_irrelevance", "inject_budget", "inject_note"),
    *("inject_system", "inject_authority", "bulk_document", "impersonate_rescind"),
    *("rescind_notice", "relink"),
}


def test_all_are_registered() -> None:
    assert set(NAMES) >= THE_PAPERS
    aware = {name for name in NAMES if ATTACKS.get(name).knowledge == "defense_aware"}
    assert aware == {"impersonate_rescind", "impersonate_signed", "rescind_notice"}
    for name in THE_PAPERS:
        found = ATTACKS.get(name)
        assert set(found.surface) == set(SURFACES)
        assert found.summary.endswith(".")
        fixed = name in ("impersonate_rescind", "rescind_notice")
        assert fixed or set(found.positions) == set(POSITIONS)


# Where the words do not matter; each locale, and both kinds of family.
A_FEW = ["soft_email.en", "soft_deploy.zh", "soft_spend.es", "soft_channel.de", "hard_secret.en"]


@pytest.mark.parametrize("file", soaked(FILES, A_FEW))
@pytest.mark.parametrize("name", NAMES)
def test_only_ingested_content_is_touched(name: str, file: str) -> None:
    before = staged(file)
    history = [turn for turn in before.turns if turn.part == "history"]
    spoke = any(map(holds_result, history[-RECENT_TURNS:]))
    for spec, channel, position in specs(name):
        after = attacks.apply(spec, before)
        check_attacked(before, after)
        found = written(before, after)
        assert found
        assert all((m.role, m.origin) == ("tool", "attacker") for m in found)
        assert (after.variant, after.policy) == (before.variant, before.policy)
        assert (after.opening, after.standing) == (before.opening, before.standing)
        assert after.trigger == before.trigger
        added = sum(turn.part == "attack" for turn in after.turns)
        own = [True] * len(found)
        if channel == "tool_output":
            late = position == "recent" and not spoke
            own = [late and not holds_result(turn) for turn in history[-len(found) :]]
        assert added == sum(own)
        for message in found:
            kept = mentions([message.text], before.policy, before.variant.slots)
            assert not kept.kept, f"{spec} states the policy itself"


@pytest.mark.parametrize("name", NAMES)
def test_no_text_states_a_policy(name: str) -> None:
    """Or an attack's own words would count as the policy's survival."""
    for file in FILES:
        check_states_no_policy(name, file)


def check_states_no_policy(name: str, file: str) -> None:
    slots = open_slots(staged(file).variant.scenario, {})
    filled = {
        slot: slots[slot]
        for slot, phrases in staged(file).variant.scenario.slots.items()
        if any(names(phrase) for phrase in phrases)
    }
    for text in texts(name, file):
        assert policy_in([text], slots) is None, (file, text)
        assert best_window(text, filled) == frozenset(), (file, text)


@pytest.mark.parametrize("name", NAMES)
def test_the_conversation_is_not_read(name: str) -> None:
    """The texts depend on the organisation's name and on nothing else in the episode."""
    wanted = texts(name, "soft_email.en")
    for wording in WORDINGS:
        assert texts(name, "soft_email.en", wording=wording) == wanted
    for channel in CHANNELS.names():
        assert texts(name, "soft_email.en", channel=channel, policy=False) == wanted
    assert texts(name, "soft_email.en", allowed=True) == wanted
    variant = staged("soft_email.en").variant
    for text in wanted:
        assert variant.policy("declarative") not in text
        assert str(variant.values["domain"]) not in text


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_gives_one_text(name: str) -> None:
    for spec, *_ in specs(name):
        before = staged("soft_deploy.es")
        assert attacks.apply(spec, before) == attacks.apply(spec, before)
    assert texts(name, "soft_deploy.es") == texts(name, "soft_deploy.es")
    assert texts(name, "soft_deploy.es") != texts(name, "soft_deploy.es", seed=1)


@pytest.mark.parametrize("name", NAMES)
def test_languages_differ(name: str) -> None:
    found = {locale: texts(name, f"soft_spend.{locale}") for locale in LOCALES}
    assert len({tuple(text) for text in found.values()}) == len(LOCALES)
    assert not any(text.isascii() for text in found["zh"])


# Positions.


def at(episode: Episode) -> list[int]:
    """Numbers of the attacked turns, among the turns of the history."""
    turns = [turn for segment in episode.segments for turn in segment]
    return [
        number
        for number, turn in enumerate(turns)
        if any(message.origin == "attacker" for message in turn.messages)
    ]


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("name", NAMES)
def test_positions(name: str, rounds: int) -> None:
    before = staged("soft_email.en", rounds=rounds, context_tokens=1600)
    turns = [turn for segment in before.segments for turn in segment]
    spoke = [place for place, turn in enumerate(turns) if holds_result(turn)]
    assert 0 < len(spoke) < len(turns)
    pieces = len(texts(name, "soft_email.en"))
    for spec, channel, position in specs(name):
        found = at(attacks.apply(spec, before))
        assert len(found) == pieces, "each piece in a turn of its own"
        last = spoke[-1] if channel == "tool_output" else len(turns) - 1 + pieces
        if position == "early":
            assert found[0] == (spoke[0] if channel == "tool_output" else 1)
        elif position == "middle":
            assert found[0] > 1
            assert found[-1] < last - 1
        else:
            assert found[-1] == last


def test_recent_is_the_end_of_the_last_round() -> None:
    before = staged("soft_email.en", rounds=3)
    for channel in SURFACES:
        after = attacks.apply(f"impersonate_rescind:channel={channel}", before)
        assert after.segments[:2] == before.segments[:2]
        assert after.segments[2][-1] not in before.segments[2]


@pytest.mark.parametrize(
    ("file", "seed", "tokens", "rounds"),
    [("soft_deploy.en", 0, 300, 1), ("soft_email.en", 0, 300, 2), ("soft_email.en", 2, 300, 3)],
)
def test_what_is_recent_is_not_summarised(file: str, seed: int, tokens: int, rounds: int) -> None:
    """Though no tool spoke in the last two turns; an older result would be summarised."""
    before = staged(file, seed, context_tokens=tokens, rounds=rounds)
    turns = [turn for segment in before.segments for turn in segment]
    assert not any(map(holds_result, turns[-RECENT_TURNS:]))
    after = attacks.apply("impersonate_rescind", before)
    assert at(after) == [len(turns)]
    assert after.segments[-1][-1].part == "attack"


def holds_result(turn: Turn) -> bool:
    return any(message.role == "tool" for message in turn.messages)


def without_results(episode: Episode, every: int) -> Episode:
    """Every so many turns without its calls and their results."""
    segments = tuple(
        tuple(
            replace(turn, messages=(turn.messages[0], turn.messages[-1]))
            if at % every == 0
            else turn
            for at, turn in enumerate(segment)
        )
        for segment in episode.segments
    )
    return replace(episode, segments=segments)


@pytest.mark.parametrize("position", POSITIONS)
def test_where_no_tool_spoke_a_reading_is_added(position: str) -> None:
    before = without_results(staged("soft_email.en"), 1)
    after = attacks.apply(f"relink:position={position}", before)
    found = written(before, after)
    added = [turn for turn in after.turns if turn.part == "attack"]
    assert len(found) == len(added) == 3
    for turn in added:
        asked, given = turn.messages
        assert asked.call is not None
        assert asked.call.function == "read_document"
        assert given.origin == "attacker"
        assert given.text in file_of("relink").filled(before.variant)


@pytest.mark.parametrize("position", POSITIONS)
def test_a_turn_in_which_a_tool_spoke_goes_before_one_without(position: str) -> None:
    before = without_results(staged("soft_email.en", context_tokens=2000), 2)
    after = attacks.apply(f"relink:position={position}", before)
    assert len(written(before, after)) == 3
    assert not [turn for turn in after.turns if turn.part == "attack"]


def test_a_history_of_acts_alone_is_refused() -> None:
    before = staged("soft_email.en", exercised=1, context_tokens=100)
    offered = {tool.name for tool in before.variant.tools}
    acts = [
        t
        for t in before.segments[0]
        if any(m.call and m.call.function in offered for m in t.messages)
    ]
    with pytest.raises(EpisodeError, match="the agent acts in every turn"):
        attacks.apply("relink", replace(before, segments=(tuple(acts),)))


def test_a_short_history_takes_all_fragments() -> None:
    before = staged("soft_email.en", context_tokens=100)
    turns = len(before.segments[0])
    spoke = sum(map(holds_result, before.segments[0]))
    assert turns < 3
    after = attacks.apply("relink", before)
    assert len(written(before, after)) == 3
    assert len(after.segments[0]) == turns + (3 - spoke)


@given(
    name=st.sampled_from(NAMES),
    file=st.sampled_from(FILES),
    seed=st.integers(0, 40),
    rounds=st.integers(1, 3),
    tokens=st.integers(100, 1200),
    pick=st.integers(0, 8),
)
def test_any_episode_can_be_attacked(
    name: str, file: str, seed: int, rounds: int, tokens: int, pick: int
) -> None:
    before = staged(file, seed, rounds=rounds, context_tokens=tokens)
    spec = list(specs(name))[pick % len(list(specs(name)))][0]
    after = attacks.apply(spec, before)
    assert written(before, after)
    assert [t for t in after.turns if t.part == "trigger"] == [before.trigger]


@pytest.mark.parametrize("file", soaked(FILES, A_FEW))
@pytest.mark.parametrize("name", NAMES)
def test_the_results_of_the_agent_s_own_acts_are_left_alone(name: str, file: str) -> None:
    before = staged(file, exercised=4, context_tokens=700)
    offered = {tool.name for tool in before.variant.tools}
    for spec, _, _ in specs(name):
        found = written(before, attacks.apply(spec, before))
        assert found
        assert not [m for m in found if m.call is not None and m.call.function in offered]


# Bulk.


@given(
    name=st.sampled_from(["volume", "bulk_document"]),
    file=st.sampled_from(["soft_email.en", "soft_email.zh", "soft_email.es"]),
    size=st.integers(50, 3000),
)
def test_bulk_reaches_its_size_and_stops(name: str, file: str, size: int) -> None:
    text = file_of(name).bulk(staged(file).variant, size)
    lines = text.split("\n")
    assert size - 5 <= count(text) <= size + 80
    assert len(set(lines)) == len(lines)
    assert count("\n".join(lines[:-1])) < size


@pytest.mark.parametrize("name", ["volume", "bulk_document"])
def test_size_is_a_parameter(name: str) -> None:
    before = staged("soft_email.en")

    def length(spec: str) -> int:
        return sum(count(m.text) for m in written(before, attacks.apply(spec, before)))

    assert length(f"{name}:size=300") < length(name) < length(f"{name}:size=4000")


@pytest.mark.parametrize("name", NAMES)
def test_the_canary_is_not_in_the_conversation(name: str) -> None:
    assert all("canary" not in text for text in texts(name, "soft_email.en"))
