"""The roundtable counts what its models said, and its mandate holds."""

import re
from typing import cast

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.model import Model, ModelOutput

from constraintrot.defenses.rampart.errors import AuthorityError
from constraintrot.errors import EpisodeError
from results.tools.roundtable.__main__ import ARMS, Held, hold, main
from results.tools.roundtable.meter import Meter
from results.tools.roundtable.participant import participant, reply
from results.tools.roundtable.tables import Council, tamper
from results.tools.roundtable.workshop import (
    AGENTS,
    TABLES,
    asked,
    framed,
    held,
    read_choice,
    workshop,
)
from tests.helpers import answering

TRANSFERS = TABLES + TABLES * AGENTS + TABLES * AGENTS + TABLES
REASONING = TABLES * AGENTS + TABLES + 1


def both(script: str, seed: int = 42) -> dict[str, Held]:
    """A workshop in both arms, with scripted participants."""
    return {arm: anyio.run(hold, participant(script), arm, seed) for arm in ARMS}


def part(found: dict[str, Held], name: str) -> dict[str, float]:
    return {arm: one.counts[name] for arm, one in found.items() if name in one.counts}


@pytest.fixture(scope="module")
def faithful() -> dict[str, Held]:
    return both("faithful")


def test_transfers_are_calls_by_messages_and_none_by_registries(faithful: dict[str, Held]) -> None:
    assert part(faithful, "coordination_calls") == {"registries": 0.0, "messages": TRANSFERS}
    assert part(faithful, "reasoning_calls") == {"registries": REASONING, "messages": REASONING}
    for kind in ("prompt_tokens", "output_tokens", "tokens"):
        spent = part(faithful, f"coordination_{kind}")
        assert spent["registries"] == 0.0
        assert spent["messages"] > 0


def test_what_is_written_is_paid_for_by_who_receives_it(faithful: dict[str, Held]) -> None:
    received, prompts = part(faithful, "received_tokens"), part(faithful, "reasoning_prompt_tokens")
    for arm in ARMS:
        assert 0 < received[arm] < prompts[arm]


def test_the_counts_are_the_models_own(faithful: dict[str, Held]) -> None:
    for found in faithful.values():
        assert found.counts["total_tokens"] == sum(
            found.counts[f"{purpose}_{kind}_tokens"]
            for purpose in ("coordination", "reasoning")
            for kind in ("prompt", "output")
        )


def test_the_mandate_survives_and_the_winner_is_traced_to_it(faithful: dict[str, Held]) -> None:
    assert part(faithful, "mandate") == {"registries": 1.0, "messages": 1.0}
    assert part(faithful, "tampering_survived") == part(faithful, "traced") == {"registries": 1.0}
    table, trace = faithful["registries"].winner, faithful["registries"].trace
    assert trace[0] == f"proposal {table}, in chairman, by chair {table}"
    assert re.fullmatch(rf"proposal (\d), in group {table}, by agent {table}\.\1", trace[1])
    assert trace[2:] == tuple(
        f"{name}, in table {table}, by chairman"
        for name in ("topic", "considerations", "budget", "format", "timeline")
    )


@pytest.mark.parametrize("seed", [42, 43])
def test_terse_messages_lose_the_mandate_and_registries_do_not(seed: int) -> None:
    assert part(both("terse", seed), "mandate") == {"registries": 1.0, "messages": 0.0}


def test_an_unreadable_choice_is_counted_and_the_workshop_goes_on() -> None:
    found = anyio.run(hold, answering("As you wish."), "registries", 42)
    assert found.counts["readable"] == 0.0
    assert found.counts["reasoning_calls"] == REASONING
    assert found.counts["traced"] == 1.0


def test_the_table_of_the_committed_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    printed = capsys.readouterr().out
    assert "| coordination_tokens | 0 | 5,796 |" in printed
    assert "| received_tokens | 3,750 | 2,498 |" in printed
    assert "| total_tokens | 4,545 | 9,089 |" in printed


class Mute:
    """Answers without saying what it cost."""

    def __str__(self) -> str:
        return "mute"

    async def generate(self, _: object) -> ModelOutput:
        return ModelOutput.from_content("mute", "PICK: 1")


def test_without_usage_nothing_is_estimated() -> None:
    meter = Meter(cast(Model, Mute()))
    with pytest.raises(EpisodeError, match="mute reports no token usage"):
        anyio.run(meter.ask, "reasoning", "Choose.")


@given(st.integers(0, 2**31))
def test_no_chair_gets_past_the_mandate(seed: int) -> None:
    council = Council(workshop(seed))
    table = council.tables[seed % TABLES]
    survived, tried = tamper(table, council.chairman)
    assert survived == tried > 20
    assert held(table.mandate.compile().prompt, council.workshop.mandate(table.number)) == 1.0


def test_agents_cannot_remove_what_their_chair_wrote() -> None:
    table = Council(workshop(1)).tables[0]
    for agent, registry in zip(table.agents, table.agent_registries, strict=True):
        for block in registry.blocks():
            with pytest.raises(AuthorityError):
                registry.evict(block.id, by=agent, force=True)


def test_tampering_that_works_is_noticed() -> None:
    council = Council(workshop(1))
    table = council.tables[0]
    # The chairman in the chair's place: as author it may remove its own pins.
    table.chair = council.chairman
    survived, tried = tamper(table, council.chairman)
    assert survived < tried


def test_a_trace_with_a_missing_link_is_none() -> None:
    council = Council(workshop(1))
    assert council.trace(0) == []


def test_a_workshop_depends_on_its_seed_alone() -> None:
    assert workshop(7) == workshop(7)
    assert len({workshop(seed).shared for seed in range(20)}) > 10
    for table in range(TABLES):
        assert len(workshop(7).mandate(table)) == 5


@pytest.mark.parametrize(
    ("answer", "pick", "summary"),
    [
        ("PICK: 2\nSUMMARY: Cheap.", 1, "Cheap."),
        ("**Pick:** 4\n\nSummary: It is\ngood.", 3, "It is\ngood."),
        ("PICK: 5\nSUMMARY: No such one.", None, "No such one."),
        ("PICK: 0", None, None),
        ("Number 2 is best.", None, None),
        ("", None, None),
    ],
)
def test_choices_are_read_strictly(answer: str, pick: int | None, summary: str | None) -> None:
    found = read_choice(answer, 4)
    assert (found.pick, found.summary) == (pick, summary)


def test_participants_read_their_prompt_and_nothing_else() -> None:
    told = framed(workshop(3).mandate(0))
    assert reply(asked(told, "Sing."), terse=False) == "There is nothing for me to do here."
    assert reply("Choose", terse=False) == "There is nothing for me to do here."
    for terse in (False, True):
        passed = reply(
            asked(told, "Write the message that passes on to me all of the above."), terse=terse
        )
        assert held(passed, workshop(3).mandate(0)) == (0.0 if terse else 1.0)
