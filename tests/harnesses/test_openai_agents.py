"""The OpenAI Agents SDK's Runner: what is particular to what it keeps of a session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from agents import RunConfig, SQLiteSession
from agents.exceptions import UserError
from agents.extensions import ToolOutputTrimmer
from agents.memory import OpenAIResponsesCompactionSession, SessionSettings

from constraintrot.defenses.rampart import Principal, Registry
from constraintrot.harnesses.openai_agents.harness import as_dicts
from constraintrot.harnesses.openai_agents.pins import pin_filter
from tests.harnesses.openai_agents_fakes import Compact, Recorder, converse, made, quiet
from tests.harnesses.rules import CHANNELS, PINNED, kept


def test_why_the_endpoint_is_stood_in_for() -> None:
    store = SQLiteSession("s")
    with pytest.raises(ValueError, match="Unsupported model"):
        OpenAIResponsesCompactionSession("s", store, model="qwen2.5-7b")
    store.close()
    with pytest.raises(UserError, match="compaction"):
        as_dicts([{"type": "compaction", "id": "c", "encrypted_content": "?"}])


def last_six(history: list[Any], new: list[Any]) -> list[Any]:
    return [*history[-6:], *new]


def compacting(store: Any) -> Any:
    client: Any = Compact()
    return OpenAIResponsesCompactionSession("s", store, client=client, compaction_mode="input")


Row = tuple[Callable[[Any], Any], Callable[[], dict[str, Any]], str, set[str]]
USERS = {"system", "first user", "later user"}
SHORT, LONG = "read_handbook", "read_long_handbook"
# What stands in the last input: how the session is made, the run's settings, which handbook.
MATRIX: dict[str, Row] = {
    "nothing": (lambda store: store, dict, SHORT, set(CHANNELS)),
    "SessionSettings(limit=10)": (
        lambda store: store,
        lambda: {"session_settings": SessionSettings(limit=10)},
        SHORT,
        {"system"},
    ),
    "session_input_callback": (
        lambda store: store,
        lambda: {"session_input_callback": last_six},
        SHORT,
        {"system"},
    ),
    "OpenAIResponsesCompactionSession": (compacting, dict, SHORT, USERS),
    "ToolOutputTrimmer, short output": (
        lambda store: store,
        lambda: {"call_model_input_filter": ToolOutputTrimmer()},
        SHORT,
        set(CHANNELS),
    ),
    "ToolOutputTrimmer, long output": (
        lambda store: store,
        lambda: {"call_model_input_filter": ToolOutputTrimmer()},
        LONG,
        USERS,
    ),
}


def pinning(settings: dict[str, Any]) -> RunConfig:
    operator = Principal("operator")
    rules = Registry(operator)
    rules.pin(PINNED, by=operator)
    inner = settings.pop("call_model_input_filter", None)
    return quiet(**settings, call_model_input_filter=pin_filter(rules, inner))


@pytest.mark.parametrize("pinned", [False, True], ids=["plain", "pinned"])
@pytest.mark.parametrize("row", MATRIX)
def test_the_matrix(row: str, pinned: bool) -> None:
    around, settings, handbook, expected = MATRIX[row]
    model, store = Recorder(), SQLiteSession("s")
    config = pinning(settings()) if pinned else quiet(**settings())
    session = around(store)
    asyncio.run(converse(made(model), model, session, config, handbook=handbook))
    assert kept(model.texts[-1]) == expected
    assert [text.count(PINNED) for text in model.texts] == [pinned] * 15
    assert PINNED not in str(asyncio.run(store.get_items()))
    if session is not store:
        assert kept(session.client.shown[0]) == {"first user", "later user", "tool"}
        assert PINNED not in str(session.client.shown)
    store.close()
