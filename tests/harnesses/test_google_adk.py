"""Google's ADK: what is particular to its compactions."""

from __future__ import annotations

import asyncio

import pytest

from constraintrot.defenses.rampart import Principal, Registry
from constraintrot.harnesses.google_adk.harness import _interval
from constraintrot.harnesses.google_adk.pins import PinPlugin
from tests.harnesses.google_adk_fakes import Chat, Recorder, compaction
from tests.harnesses.rules import CHANNELS, LOSSY, PINNED, kept


@pytest.mark.parametrize("requests", range(2, 40))
def test_nothing_is_compacted_right_after_the_trigger(requests: int) -> None:
    interval = _interval(requests)
    assert 1 <= interval <= requests
    assert (requests + 1) % interval or requests < 3


# By how it compacts: what stands in the last input of a long conversation whose summarizer
# tells of no rule, and how many summaries it begins with.
SLIDING = {"compaction_interval": 3, "overlap_size": 1}
THRESHOLD = {"token_threshold": 150, "event_retention_size": 6}
MATRIX: dict[str, tuple[dict[str, int], set[str], int]] = {
    "nothing": ({}, set(CHANNELS), 0),
    # They stack.
    "sliding window": (SLIDING, {"system"}, 3),
    # They roll.
    "token threshold": (THRESHOLD, {"system"}, 1),
}


def pins() -> PinPlugin:
    operator = Principal("operator")
    rules = Registry(operator)
    rules.pin(PINNED, by=operator)
    return PinPlugin(rules)


@pytest.mark.parametrize("pinned", [False, True], ids=["plain", "pinned"])
@pytest.mark.parametrize("row", MATRIX)
def test_the_matrix(row: str, pinned: bool) -> None:
    given, expected, summaries = MATRIX[row]
    model, writer = Recorder(), Recorder(reply=LOSSY)
    chat = Chat(model, compaction(writer, **given) if given else None, [pins()] if pinned else [])
    asyncio.run(chat.converse())
    assert kept(model.texts[-1]) == expected
    assert model.texts[-1].count(LOSSY) == summaries
    assert model.roles[-1][0] == ("model" if summaries else "user")
    assert [text.count(PINNED) for text in model.texts] == [pinned] * len(model.texts)
    # What is compacted stays in the session.
    events = "\n".join(event.model_dump_json() for event in asyncio.run(chat.stored()))
    assert kept(events) == set(CHANNELS) - {"system"}


@pytest.mark.parametrize(
    ("handbook", "shown"),
    [
        ("read_handbook", {"first user", "later user", "tool"}),
        # Of a result it is shown the first 2000 characters, and the rule stands behind them.
        ("read_long_handbook", {"first user", "later user"}),
    ],
)
@pytest.mark.parametrize("given", [SLIDING, THRESHOLD], ids=["sliding_window", "token_threshold"])
def test_what_the_summarizer_is_shown(
    given: dict[str, int], handbook: str, shown: set[str]
) -> None:
    model, writer = Recorder(), Recorder(reply=LOSSY)
    chat = Chat(model, compaction(writer, **given), [pins()])
    asyncio.run(chat.converse(handbook=handbook))
    assert kept(writer.ever) == shown
    assert PINNED not in writer.ever
