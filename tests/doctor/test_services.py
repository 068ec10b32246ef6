"""LangSmith and its like through Inspect Scout: what it gives, what it logs, what is missing."""

import logging
import sys
from collections.abc import AsyncIterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from inspect_ai.event import Event, ModelEvent
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
)

from constraintrot.coding_agents.sessions import scout
from constraintrot.coding_agents.sessions.events import Refused, Session
from constraintrot.coding_agents.sessions.inspect_messages import marked
from constraintrot.doctor.rules import Rule
from constraintrot.doctor.verdicts import diagnose
from constraintrot.errors import ConstraintRotError, MissingExtraError
from tests.doctor.service_apis import HISTORY, serving
from tests.doctor.sessions import FORCE_PUSH, SUMMARY
from tests.invoked import invoked


def call(*texts: str, says: str = "ok", system: str = "You are a coding agent.") -> ModelEvent:
    """A model call whose messages are the user's and the agent's in turns."""
    input: list[ChatMessage] = [ChatMessageSystem(content=system)]
    for at, text in enumerate(texts):
        input.append((ChatMessageAssistant if at % 2 else ChatMessageUser)(content=text))
    return ModelEvent(
        model="m", input=input, tools=[], tool_choice="auto", config=GenerateConfig(),
        output=ModelOutput.from_content("m", says),
    )  # fmt: skip


def kinds(*events: Event) -> list[str]:
    return [one.event for one in marked(events)]


def test_call_that_goes_on_from_a_summary_was_compacted() -> None:
    asked = call(*HISTORY, "Summarise the work.", says=SUMMARY)
    after = call(f"So far: {SUMMARY}", "Understood.", "Go on.")
    assert kinds(call(*HISTORY), asked, after) == ["model", "model", "compaction", "model"]
    # A history that was cut is one that the model does not see any more, too.
    cut = call("It drops the last row.", "ok", "Go on.")
    assert kinds(call(*HISTORY), cut) == ["model", "compaction", "model"]


def test_calls_that_go_on_or_are_another_agents_were_not() -> None:
    longer = call(*HISTORY, "Go on.")
    other = call("Find the file.", "which?", "a.py", system="You are a helper.")
    another = call("Translate this.", "Yes.", "Thanks.")
    assert "compaction" not in kinds(call(*HISTORY), longer)
    assert "compaction" not in kinds(call(*HISTORY), other, longer)
    assert "compaction" not in kinds(call(*HISTORY), another)


def transcript(*events: Event) -> Any:
    return SimpleNamespace(transcript_id="t1", source_type="langsmith", messages=[], events=events)


@pytest.fixture
def scouted(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Stands in for inspect_scout; its ``sources`` are set by the tests."""
    package = ModuleType("inspect_scout")
    package.sources = SimpleNamespace()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "inspect_scout", package)
    monkeypatch.setattr(scout, "installed", lambda name: True)
    return package


def test_trace_of_a_service_is_read_with_its_compaction(scouted: Any) -> None:
    async def langsmith(project: str | None) -> AsyncIterator[Any]:
        assert project == "shop"
        yield transcript(
            call(*HISTORY),
            call(*HISTORY, "Summarise.", says=SUMMARY),
            call(f"So far: {SUMMARY}", "ok", "Go on."),
        )

    scouted.sources.langsmith = langsmith
    (session,) = scout.of_service("langsmith", "shop")
    assert isinstance(session, Session)
    assert session.name == "langsmith:shop#t1"
    ((made, _, change),) = diagnose(session, [Rule("push", FORCE_PUSH, file="r.yaml")]).lost()
    assert (made.certainty, change.before, change.after) == ("written", "verbatim", "lost")


def test_what_scout_logs_in_place_of_raising_is_said(
    scouted: Any, caplog: pytest.LogCaptureFixture
) -> None:
    # As an evaluation in the same process leaves it.
    caplog.set_level(logging.ERROR)

    async def refusing(project: str | None) -> AsyncIterator[Any]:
        logging.getLogger("inspect_scout.sources._x").error("Failed to list runs: 401")
        if project is None:
            yield None

    async def partly(project: str | None) -> AsyncIterator[Any]:
        logging.getLogger("inspect_scout.sources._x").warning("Failed to process trace 7: torn")
        yield transcript(call(*HISTORY))

    scouted.sources.phoenix, scouted.sources.weave = refusing, partly
    with pytest.raises(ConstraintRotError, match="phoenix:shop: Failed to list runs: 401"):
        list(scout.of_service("phoenix", "shop"))
    one, refused = scout.of_service("weave", "shop")
    assert isinstance(one, Session)
    assert isinstance(refused, Refused)
    assert (
        refused.why
        == "not all of it was read, 1 warnings; the first: Failed to process trace 7: torn"
    )


def test_package_or_key_that_is_missing_is_named(
    scouted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def keyless(project: str | None) -> AsyncIterator[Any]:
        raise ValueError("set LOGFIRE_READ_TOKEN environment variable")
        yield

    scouted.sources.logfire = keyless
    result = invoked("doctor", "logfire:shop", "--yes", exits=2)
    assert "logfire:shop: set LOGFIRE_READ_TOKEN" in result.output
    monkeypatch.setattr(scout, "installed", lambda name: False)
    with pytest.raises(MissingExtraError, match=r"constraintrot\[scout\]"):
        list(scout.of_service("langsmith", "shop"))


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore")  # of the services' clients and Scout, which is not ours
@pytest.mark.parametrize("status", [200, 401])
@pytest.mark.parametrize(
    ("name", "client", "address"),
    [
        ("langsmith", "langsmith", "LANGSMITH_ENDPOINT"),
        ("phoenix", "phoenix", "PHOENIX_COLLECTOR_ENDPOINT"),
    ],
)
def test_scouts_own_source_with_the_services_client(
    name: str, client: str, address: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("inspect_scout", reason="constraintrot[scout] is not installed")
    pytest.importorskip(client, reason=f"the client of {name} is not installed")
    with serving(status) as url:
        monkeypatch.setenv(address, url)
        monkeypatch.setenv(f"{name.upper()}_API_KEY", "none")
        if status == 401:
            with pytest.raises(ConstraintRotError, match=r"Invalid token|401"):
                list(scout.of_service(name, "shop"))
            return
        (session,) = scout.of_service(name, "shop")
    assert isinstance(session, Session)
    found = diagnose(session, [Rule("push", FORCE_PUSH, file="r.yaml")])
    assert [change.outcome for _, _, change in found.lost()] == ["lost"]
