"""``constraintrot harnesses``: its table, what it runs again, and what it complains about."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import Result
from inspect_ai.log import EvalSample
from inspect_ai.model import ChatMessage, ChatMessageTool
from inspect_ai.scorer import Score

from constraintrot.defenses import HOOKS
from constraintrot.episode.episode import Episode
from constraintrot.evaluation.play_settings import PlaySettings
from constraintrot.harnesses import FRAMEWORK_HOOKS, HARNESSES, Harness, HarnessSpec, Needs, Played
from constraintrot.harnesses.session import Session
from constraintrot.runs import comparison
from tests.docs_code import run_page
from tests.harnesses.messages import system, user
from tests.helpers import register
from tests.invoked import invoked

Say = Callable[[str], Awaitable[object]]


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """A registry with the toys of a test, and without the frameworks; one family."""
    HARNESSES.names()
    monkeypatch.setattr(HARNESSES, "_components", {"replay": HARNESSES.get("replay")})
    monkeypatch.setitem(comparison.TASK_ARGS, "families", "soft_email")


def call(tmp_path: Path, *arguments: object, exits: int = 0) -> Result:
    given = ("harnesses", "--log-dir", tmp_path / "logs", "--variants", 1, *arguments)
    return invoked(*given, exits=exits)


def add(
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    talk: Callable[[Session], Say],
    **given: Any,
) -> list[str]:
    """A toy framework; and the compaction modes that were played."""
    played: list[str] = []

    def factory(mode: str, live: bool) -> Harness:
        async def play(episode: Episode, settings: PlaySettings) -> Played:
            played.append(mode)
            session = Session(episode, settings, live=live, distribution="inspect-ai")
            return await session.run(talk(session))

        return play

    entry = HarnessSpec(factory, **{"hooks": FRAMEWORK_HOOKS, "modes": ("last",)} | given)
    register(monkeypatch, HARNESSES, name, entry)
    return played


def lasting(session: Session, *, keep: int = 4, pins: bool = True) -> Say:
    """Sends the system message and the last messages."""
    history: list[ChatMessage] = []

    async def say(text: str) -> None:
        history.append(user(text))
        while True:
            instructions = session.system
            if pins and session.pins is not None:
                instructions = session.pins.into(instructions)
            sent: Sequence[ChatMessage] = history if keep == 0 else history[-keep:]
            reply = await session.answer([system(instructions), *sent], session.tools)
            history.append(reply)
            if not reply.tool_calls:
                return
            history.extend(
                ChatMessageTool(content=session.tool(c.function, c.arguments), tool_call_id=c.id)
                for c in reply.tool_calls
            )

    return say


def rows(result: Result) -> dict[str, list[str]]:
    """The table's rows by harness."""
    cells = [
        [cell.strip() for cell in line.strip("| ").split(" | ")]
        for line in result.stdout.splitlines()
        if line.startswith("| ")
    ]
    return {row[0]: row[1:] for row in cells[2:]}


def test_the_table_and_the_episodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(comparison.TASK_ARGS, "families")
    played = add(monkeypatch, "toy", lasting, modes=("last", "other"))
    csv = tmp_path / "made" / "episodes.csv"
    result = call(tmp_path, "--csv", csv)
    found = rows(result)
    assert set(found) == {"replay", "toy:last", "toy:other"}
    assert found["toy:last"][:6] == ["5/5", "0/5", "0/5", "5/5", "0", "-"]
    assert found["replay"][:4] == ["5/5", "0/5", "0/5", "5/5"]
    assert "[1/3] replay: done" in result.stderr
    frame = pd.read_csv(csv)
    assert len(frame) == 3 * 5 * 2
    assert set(frame["harness"]) == {"replay", "toy", "toy:other"}
    assert set(frame["defense"]) == {"none", "pin"}
    assert sorted(set(played)) == ["last", "other"]


def test_a_finished_cell_is_not_run_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played = add(monkeypatch, "toy", lasting)
    first = call(tmp_path, "--only", "toy")
    assert len(played) == 2
    again = call(tmp_path, "--only", "toy:last")
    assert len(played) == 2
    assert rows(again) == rows(first)
    # Other settings are another cell.
    call(tmp_path, "--only", "toy", "--context-tokens", "400")
    assert len(played) == 4


def test_what_failed_runs_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(monkeypatch, "toy", lambda session: lasting(session, keep=0))
    call(tmp_path, "--only", "toy", exits=1)
    played = add(monkeypatch, "toy", lasting)
    call(tmp_path, "--only", "toy")
    assert len(played) == 2


def test_a_compaction_that_did_not_happen_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(monkeypatch, "whole", lambda session: lasting(session, keep=0))
    add(monkeypatch, "toy", lasting)
    result = call(tmp_path, exits=1)
    assert "constraintrot: whole:last: soft_email.en-0-compaction-none" in result.stderr
    assert "compacted nothing before the trigger" in result.stderr
    # The others are in the table all the same.
    assert rows(result)["toy:last"][:2] == ["1/1", "0/1"]


def test_a_missing_pin_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(monkeypatch, "toy", lambda session: lasting(session, pins=False))
    result = call(tmp_path, "--only", "toy", exits=1)
    assert "constraintrot: toy:last: soft_email.en-0-compaction-pin" in result.stderr
    assert "the pinned policies are not in a model input exactly once" in result.stderr


def test_a_policy_that_is_not_there_with_pins_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whoever plays it: what stands in the last input is looked at again.
    monkeypatch.setattr(comparison, "kept", lambda sample: False)
    result = call(tmp_path, "--only", "replay", exits=1)
    assert (
        "replay: soft_email.en-0-compaction-pin: the policy is not in the last model input"
        in result.stderr
    )


def test_a_sample_whose_reader_cannot_tell_counts_for_neither() -> None:
    read = [comparison.kept(of_survival(value)) for value in (1.0, 0.0, float("nan"))]
    assert read == [True, False, None]
    samples = [of_survival(value) for value in (1.0, 0.0, float("nan"))]
    assert comparison._share(samples, comparison.kept) == "1/2 (1 unscored)"


def of_survival(value: float) -> EvalSample:
    score = Score(value={"survived": value})
    return EvalSample(id=1, epoch=1, input="", target="", scores={"survival": score})


def test_a_missing_extra_is_named_and_the_rest_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs = (Needs("no-such-distribution", "1", "2"),)
    add(monkeypatch, "absent", lasting, needs=needs, extra="absent")
    result = call(tmp_path, exits=1)
    assert "pip install 'constraintrot[absent]'" in result.stderr
    assert rows(result)["absent:last"][:2] == ["0/0", "0/0"]
    assert rows(result)["replay"][:2] == ["1/1", "0/1"]


def test_a_wrong_name_is_refused(tmp_path: Path) -> None:
    result = call(tmp_path, "--only", "lanchain", exits=2)
    assert "unknown harness 'lanchain'; known: replay" in result.stderr


def test_what_a_provider_compacts_is_run_where_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(comparison, "HOSTED", ("toy:server",))
    entry = HarnessSpec(lambda *_: pytest.fail("not played"), HOOKS, modes=("last", "server"))
    register(monkeypatch, HARNESSES, "toy", entry)
    assert comparison.names() == ["replay", "toy:last"]
    assert comparison.names(["toy"]) == ["toy:last"]
    assert comparison.names(["toy:server", "replay"]) == ["toy:server", "replay"]


def test_the_page_s_own_harness_runs(tmp_path: Path) -> None:
    run_page("harnesses.md")
    result = call(tmp_path, "--only", "last_four")
    assert rows(result)["last_four:window"][:4] == ["1/1", "0/1", "0/1", "1/1"]
