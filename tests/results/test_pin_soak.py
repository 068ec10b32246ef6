"""The soak's judge: it finds what is wrong with a request, and nothing with a right one."""

import asyncio
from collections.abc import Sequence

import pytest

from constraintrot.defenses.pinning.pinned_block import PinnedBlock
from results.tools.pin_soak.__main__ import AGENTS, Counts, judge, soak
from results.tools.pin_soak.agents import Played, Sent, Turn

BLOCKS = ("Rules: [1]\n~~~ a\nA.\n~~~", "Rules: [2]\n~~~ b\nB.\n~~~")
ONE, TWO = BLOCKS


class Given(Played):
    """Was sent what it is given."""

    def build(self) -> None:
        """There is no agent."""

    async def say(self, turn: Turn) -> None:
        raise NotImplementedError


def played(said: Sequence[str], blocks: tuple[str, ...] = ()) -> Given:
    found = Given("", [], 0)
    found.sent = [Sent(list(said), blocks)]
    return found


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ([f"Be brief.\n\n{ONE}\n\n{TWO}", "Hi"], (0, 0, 0)),
        (["Be brief.", ONE, TWO, "Hi"], (0, 0, 0)),
        ([f"Be brief.\n\n{ONE}", "Hi"], (1, 0, 1)),
        (["Be brief.", ONE, "Hi"], (1, 0, 1)),
        (["Be brief.", f"{ONE}\n\n{TWO}\n\nHi"], (1, 0, 1)),
        ([f"Be brief.\n\n{ONE}\n\n{TWO}\n\n{ONE}", "Hi"], (0, 1, 1)),
        ([f"Be brief.\n\n{ONE}\n\n{TWO}", "Hi."], (0, 0, 1)),
        ([f"Be\n\n{ONE}\n\n{TWO}", "Hi"], (1, 0, 1)),
        ([f"Be brief.\n\n{ONE.replace('A', 'C')}\n\n{TWO}", "Hi"], (1, 0, 1)),
    ],
)
def test_each_fault_is_counted(said: list[str], wrong: tuple[int, int, int]) -> None:
    counts = Counts("any")
    judge(counts, played(said, BLOCKS), played(["Be brief.", "Hi"]))
    assert (counts.unpinned, counts.doubled, counts.changed) == wrong
    assert counts.requests == 1


@pytest.mark.parametrize("hook", ["agent_framework", "inspect_ai"])
def test_a_hook_has_no_fault_and_an_agent_without_it_has(
    hook: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("results.tools.pin_soak.__main__._RESTARTS", 0.5)
    counts = asyncio.run(soak(hook, 10, 60, seed=1))
    assert counts.requests > 20
    assert counts.amended > 0
    assert counts.restarted > 0
    assert (counts.unpinned, counts.doubled, counts.changed) == (0, 0, 0)
    made = AGENTS[hook]

    def unpinned(system: str, blocks: Sequence[PinnedBlock], chance: float) -> Played:
        agent = made(system, [], chance)
        agent.blocks = blocks
        monkeypatch.setattr(agent, "build", lambda: None)
        return agent

    monkeypatch.setitem(AGENTS, hook, unpinned)
    counts = asyncio.run(soak(hook, 10, 60, seed=1))
    assert counts.unpinned == counts.requests > 0
