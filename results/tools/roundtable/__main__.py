"""The tokens that coordination costs, counted: ``python -m results.tools.roundtable``.

Four tables of four agents decide under the chairman's mandate. In the arm ``registries``
every transfer is a method call, in the arm ``messages`` a model call that reads, rewrites
and sends; both have the same 21 reasoning calls. Participants are scripted (``faithful``,
``terse``) or any Inspect model. The rows of the table, by workshop and arm:

- coordination_calls, _prompt_tokens, _output_tokens, _tokens: calls that only transfer
  content, by the provider's usage.
- reasoning_*: the other calls.
- received_tokens: what transferred content adds to the prompts of reasoning calls, in o200k
  tokens, in both arms.
- mandate: the share of constraints that the prompts of agents and chairs contain verbatim.
- readable: the share of choices that could be parsed; for the others the first proposal is
  taken.
- tampering_survived: the share of a chair's attempts after which every constraint is still
  compiled; in the arm ``registries``.
- traced: 1 if provenance leads from the winning summary to the mandate; there too.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import anyio
from inspect_ai.model import GenerateConfig, Model, get_model

from results.tools.roundtable.letters import correspond
from results.tools.roundtable.meter import Meter
from results.tools.roundtable.participant import SCRIPTS, participant
from results.tools.roundtable.tables import Council, tamper
from results.tools.roundtable.workshop import workshop

ARMS = ("registries", "messages")


@dataclass(frozen=True)
class Held:
    """A workshop that was held.

    Attributes:
        counts: the rows of the table.
        winner: number of the winning table, from 1.
        trace: the path from the winning summary to the mandate, in the arm ``registries``.
    """

    counts: dict[str, float]
    winner: int
    trace: tuple[str, ...] = ()


async def hold(model: Model, arm: str, seed: int) -> Held:
    """Hold a workshop in one arm."""
    meter, given = Meter(model), workshop(seed)
    if arm == "messages":
        winner = await correspond(given, meter)
        return Held(meter.result(), winner + 1)
    council = Council(given)
    tried = [tamper(table, council.chairman) for table in council.tables]
    winner = await council.meet(meter)
    trace = council.trace(winner)
    facts = {
        "tampering_survived": sum(survived for survived, _ in tried) / sum(n for _, n in tried),
        "traced": float(bool(trace)),
    }
    return Held(meter.result() | facts, winner + 1, tuple(trace))


def main(arguments: Sequence[str] | None = None) -> int:
    """Hold the workshops of both arms and print their table."""
    parser = argparse.ArgumentParser(description="Coordination by registries and by messages.")
    parser.add_argument("--model", default=SCRIPTS[0], help=f"{', '.join(SCRIPTS)}, or Inspect's.")
    parser.add_argument("--n", type=int, default=1, help="Workshops per arm.")
    parser.add_argument("--seed", type=int, default=42, help="Of the first workshop.")
    given = parser.parse_args(arguments)
    scripted = given.model in SCRIPTS
    config = GenerateConfig(max_tokens=300)
    model = participant(given.model) if scripted else get_model(given.model, config=config)
    for seed in range(given.seed, given.seed + given.n):
        held = {arm: anyio.run(hold, model, arm, seed).counts for arm in ARMS}
        print(f"\n| seed {seed}, {given.model} | {' | '.join(ARMS)} |\n|---|---|---|")
        for row in held[ARMS[0]]:
            cells = (f"{held[arm][row]:,g}" if row in held[arm] else "" for arm in ARMS)
            print(f"| {row} | {' | '.join(cells)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
