"""The roundtable (section 4, Table 5): what coordination between agents costs in tokens."""

from __future__ import annotations

import math
from collections.abc import Sequence

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from constraintrot.evaluation.metrics import by_condition
from constraintrot.models.config_errors import plain_errors
from constraintrot.tasks.probes import _reading
from constraintrot.tasks.probes._letters import correspond
from constraintrot.tasks.probes._meter import Meter
from constraintrot.tasks.probes._tables import Council, tamper
from constraintrot.tasks.probes._workshop import workshop

ARMS = ("registries", "messages")
VERSION = 1
_MOST = 1000


@task
def rampart_roundtable(
    arms: str | Sequence[str] = ARMS, n: int = 1, seed: int = 42, **unknown: object
) -> Task:
    """Coordination tokens, counted. ``inspect eval constraintrot/rampart_roundtable --model participant/faithful``.

    Four tables of four agents decide under the chairman's mandate. In the arm
    ``registries`` every transfer is a method call, in the arm ``messages`` a model call.

    Args:
        arms: names of the arms; a workshop has 21 model calls by registries and 61 by
            messages.
        n: workshops per arm.
        seed: seed of the first workshop.
        unknown: unknown parameters, which are refused.
    """
    with plain_errors():
        _reading.refuse(unknown, ("arms", "n", "seed"))
        chosen = _reading.names("arms", arms, ARMS)
        first = _reading.whole("seed", seed, 0, 2**31)
        seeds = range(first, first + _reading.whole("n", n, 1, _MOST))
    return Task(
        dataset=MemoryDataset(
            [
                Sample(
                    input=f"A workshop of four tables, by {arm}.",
                    id=f"{arm}-{one}",
                    metadata={"condition": arm, "seed": one},
                )
                for one in seeds
                for arm in chosen
            ],
            name="rampart_roundtable",
        ),
        solver=hold_workshop(),
        scorer=coordination(),
        config=GenerateConfig(max_tokens=300),
        name="rampart_roundtable",
        version=VERSION,
    )


@solver
def hold_workshop() -> Solver:
    """Play a sample's workshop, and record its counts in the metadata."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        meter = Meter(get_model())
        given = workshop(state.metadata["seed"])
        if state.metadata["condition"] == "messages":
            winner = await correspond(given, meter)
            facts: dict[str, float] = {}
        else:
            council = Council(given)
            tried = [tamper(table, council.chairman) for table in council.tables]
            winner = await council.meet(meter)
            state.metadata["trace"] = council.trace(winner)
            facts = {
                "tampering_survived": sum(survived for survived, _ in tried)
                / sum(attempts for _, attempts in tried),
                "traced": float(bool(state.metadata["trace"])),
            }
        state.metadata |= {"winner": winner + 1, "counts": meter.result() | facts}
        return state

    return solve


@scorer(metrics=[by_condition()])
def coordination() -> Scorer:
    """Calls and tokens by purpose, and measures of the mandate.

    ``coordination_*`` counts the model calls that only transfer content, prompt and
    answer. ``received_tokens`` is what transferred content adds to the prompts of
    reasoning calls, in o200k tokens, in both arms. ``mandate`` is the share of
    constraints that the prompts of agents and chairs contain verbatim.
    ``tampering_survived`` is the share of a chair's attempts that the mandate survived.
    ``traced`` is 1 if provenance leads from the winner to the mandate. ``readable`` is
    the share of choices that could be parsed; for the others the first proposal is taken.
    """

    async def score(state: TaskState, target: Target) -> Score:
        # The arm ``messages`` has no pinned mandate to tamper with, and no provenance.
        absent = {"tampering_survived": math.nan, "traced": math.nan}
        return Score(
            value=absent | state.metadata["counts"],
            answer=f"table {state.metadata['winner']}",
            explanation="\n".join(state.metadata.get("trace", [])),
        )

    return score
