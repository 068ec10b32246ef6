"""The staged conversation."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constraintrot.episode.channels.file import FILE_CHANNELS, PATHS, FileChannel
from constraintrot.episode.episode import Message, Turn
from constraintrot.episode.staging import LATER_ROUNDS, stage
from constraintrot.scenario import history
from constraintrot.scenario.files import FOLDER, load
from constraintrot.scenario.schema import (
    MESSAGE_CHANNELS,
    WORDINGS,
    Wording,
)
from tests.episode.changes import EMAIL, staged, texts, where

FILES = sorted(path.stem for path in FOLDER.glob("*.yaml"))


@pytest.mark.parametrize("wording", WORDINGS)
@pytest.mark.parametrize(
    ("channel", "message", "role", "origin"),
    [
        ("user", 0, "user", "user"),
        ("memory", 0, "user", "operator"),
        ("tool", 1, "tool", "tool"),
    ],
)
def test_the_policy_is_the_first_turn_after_the_opening(
    channel: str, message: int, role: str, origin: str, wording: Wording
) -> None:
    episode = staged(channel, wording=wording)
    policy = EMAIL.policy(wording)
    assert episode.policy == policy
    assert where(episode, policy) == [(1, message)]
    turn = list(episode.turns)[1]
    assert turn.part == "policy"
    assert (turn.messages[message].role, turn.messages[message].origin) == (role, origin)
    assert turn.messages[-1] == Message("assistant", EMAIL.scenario.ack, "agent")


@pytest.mark.parametrize("policy", [True, False])
def test_the_system_channel_has_no_standing_turn(policy: bool) -> None:
    episode = staged("system", policy=policy)
    assert episode.standing == ()
    text = EMAIL.policy("declarative") if policy else EMAIL.neutral("declarative")
    assert where(episode, text) == [(0, 0)]
    assert episode.opening.messages[0].role == "system"
    assert episode.opening.messages[0].text.startswith(EMAIL.system)


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("channel", MESSAGE_CHANNELS)
def test_floor_holds_the_neutral_text_instead(file: str, channel: str) -> None:
    family, locale = file.split(".")
    variant = load(family, locale).variant(3)
    floor = stage(variant, policy=False, channel=channel)
    control = stage(variant, policy=True, channel=channel)
    policy, neutral = variant.policy("declarative"), variant.neutral("declarative")
    assert where(floor, policy) == []
    assert where(control, neutral) == []
    assert len(where(floor, neutral)) == 1
    assert where(floor, neutral) == where(control, policy)
    assert floor.policy == control.policy == policy


@pytest.mark.parametrize("channel", FILE_CHANNELS)
def test_in_a_coding_agent_a_file_holds_the_text_and_the_conversation_at_most_reads_it(
    channel: FileChannel,
) -> None:
    control, floor = staged(channel), staged(channel, policy=False)
    policy, neutral = EMAIL.policy("declarative"), EMAIL.neutral("declarative")
    assert policy in control.files[channel]
    assert neutral in floor.files[channel]
    read = [(1, 1)] if channel == "file" else []
    assert where(control, policy) == where(floor, neutral) == read
    paths = [m.call.arguments["path"] for t in control.standing for m in t.messages if m.call]
    assert set(paths) == ({PATHS[channel]} if channel in PATHS else set())
    assert staged("user").files == {}


@pytest.mark.parametrize("channel", MESSAGE_CHANNELS)
def test_floor_and_control_differ_in_that_text_only(channel: str) -> None:
    floor, control = staged(channel, policy=False), staged(channel)
    assert floor.segments == control.segments
    assert floor.trigger == control.trigger
    there = [
        text.replace(EMAIL.policy("declarative"), EMAIL.neutral("declarative"))
        for text in texts(control)
    ]
    assert there == texts(floor)


def test_channels_and_wordings_share_their_history() -> None:
    segments = staged().segments
    assert all(staged(channel).segments == segments for channel in MESSAGE_CHANNELS)
    assert all(staged(wording=wording).segments == segments for wording in WORDINGS)


@pytest.mark.parametrize("allowed", [True, False])
def test_the_trigger_is_the_last_turn(allowed: bool) -> None:
    episode = staged(allowed=allowed)
    *_, last = episode.turns
    wanted = EMAIL.allowed_trigger if allowed else EMAIL.trigger
    assert last == episode.trigger == Turn("trigger", (Message("user", wanted, "user"),))
    assert where(episode, wanted) == [(len(list(episode.turns)) - 1, 0)]
    assert episode.allowed is allowed


def test_instructions_leave_all_before_the_trigger_as_it_is() -> None:
    plain, told = staged(), staged(instructions="Answer in JSON.")
    assert list(told.turns)[:-1] == list(plain.turns)[:-1]
    assert texts(told)[-1].startswith(EMAIL.trigger)
    assert len(where(told, "Answer in JSON.")) == 1


def test_the_opening_is_neutral() -> None:
    system, preamble, ready = staged().opening.messages
    assert system == Message("system", EMAIL.system, "operator")
    assert preamble == Message("user", EMAIL.preamble, "user")
    assert ready == Message("assistant", EMAIL.scenario.ready, "agent")


@pytest.mark.parametrize("rounds", [1, 2, 4])
def test_rounds_give_as_many_segments(rounds: int) -> None:
    episode = staged(rounds=rounds, context_tokens=600)
    assert len(episode.segments) == rounds
    assert all(episode.segments)
    turns = [turn for segment in episode.segments for turn in segment]
    assert len({repr(turn) for turn in turns}) == len(turns)
    assert episode.segments[0] == staged(context_tokens=600).segments[0]


@settings(deadline=None, max_examples=20)
@given(st.integers(100, 3000), st.integers(1, 3))
def test_segments_reach_their_targets_and_stop(tokens: int, rounds: int) -> None:
    episode = staged(context_tokens=tokens, rounds=rounds)
    drawn = history.turns(EMAIL)
    for number, segment in enumerate(episode.segments):
        target = tokens if number == 0 else round(tokens * LATER_ROUNDS)
        lengths = [history.length(next(drawn)) for _ in segment]
        assert sum(lengths) >= target
        assert sum(lengths[:-1]) < target


def test_the_history_is_the_variants_own() -> None:
    (segment,) = staged(context_tokens=800).segments
    drawn = history.for_tokens(EMAIL, 800)
    assert len(segment) == len(drawn)
    for turn, source in zip(segment, drawn, strict=True):
        assert turn.part == "history"
        assert turn.messages[0] == Message("user", source.user, "user")
        assert turn.messages[-1] == Message("assistant", source.reply, "agent")
        results = [message.text for message in turn.messages if message.role == "tool"]
        assert results == [call.result for call in source.calls]


@pytest.mark.parametrize("channel", MESSAGE_CHANNELS)
def test_every_message_has_the_origin_of_its_role(channel: str) -> None:
    origins = {"system": "operator", "user": "user", "assistant": "agent", "tool": "tool"}
    for turn in staged(channel, rounds=2).turns:
        for message in turn.messages:
            operator = turn.part == "policy" and channel == "memory" and message.role == "user"
            assert message.origin == ("operator" if operator else origins[message.role])


@pytest.mark.parametrize("channel", MESSAGE_CHANNELS)
def test_a_tool_message_follows_its_call(channel: str) -> None:
    seen = 0
    for turn in staged(channel).turns:
        for before, message in zip(turn.messages, turn.messages[1:], strict=False):
            assert (message.role == "tool") == (before.call is not None and before.role != "tool")
            if message.role == "tool":
                seen += 1
                assert before == Message("assistant", "", "agent", message.call)
    assert seen > 3
