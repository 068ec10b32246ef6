"""The roundtable (section 4, Table 5): what it costs agents to tell each other things."""

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

    Four tables of four agents decide under the chairman's mandate. Arm
    ``registries`` makes every transfer a method call, arm ``messages`` a model call.

    Args:
        arms: which of them; a workshop is 21 calls by registries and 61 by messages.
        n: workshops an arm.
        seed: of the first.
        unknown: refused.
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
    """Play a sample's workshop, and leave its counts in the metadata."""

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
                "tampering_survived": sum(held for held, _ in tried) / sum(of for _, of in tried),
                "traced": float(bool(state.metadata["trace"])),
            }
        state.metadata |= {"winner": winner + 1, "counts": meter.result() | facts}
        return state

    return solve


@scorer(metrics=[by_condition()])
def coordination() -> Scorer:
    """Calls and tokens by purpose, and what became of the mandate.

    ``coordination_*`` are the model calls that only transfer something, prompt and
    answer; ``received_tokens`` is what transferred content adds to the prompts of
    calls that reason, in o200k tokens, which both arms pay. ``mandate`` is the
    share of constraints that stand verbatim in the prompts of agents and chairs;
    ``tampering_survived`` the share of a chair's attempts that the mandate
    survived; ``traced`` whether provenance leads from the winner to the mandate;
    ``readable`` the share of choices that could be read; the first proposal
    stands in for one that could not.
    """

    async def score(state: TaskState, target: Target) -> Score:
        # Messages have no mandate that could be tampered with, and no provenance.
        absent = {"tampering_survived": math.nan, "traced": math.nan}
        return Score(
            value=absent | state.metadata["counts"],
            answer=f"table {state.metadata['winner']}",
            explanation="\n".join(state.metadata.get("trace", [])),
        )

    return score
