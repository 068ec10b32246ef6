"""``quick``: scripted models, no key and no weights; to see a sweep run, and to test one."""

from __future__ import annotations

from inspect_flow import FlowSpec

from constraintrot.runs.sweep.axes import sweep

SERVED = "openai-api/scripted/obedient"
SERVER = {
    "command": ["{python}", "-m", "constraintrot.models.scripted.server", "--port", "{port}"],
    "health": "/health",
    # Its clients require a key, with any value.
    "env": {"SCRIPTED_API_KEY": "none"},
    # Even a tenth of a processor here would leave one worker idle.
    "cpus": 0,
}


COMPACTORS = ("truncate", "head_tail", "summarize")


def quick(
    variants: int = 2,
    block: int = 20,
    epochs: int = 1,
    compactors: str = ",".join(COMPACTORS),
    served: bool = False,
) -> FlowSpec:
    """Two scripted agents, three compactors, with pins and without.

    Args:
        variants: variants of each family.
        block: most variants in a cell.
        epochs: replicates.
        compactors: comma-separated.
        served: adds an agent behind an HTTP server that Ray starts (only with --ray).
    """
    return sweep(
        ["scripted/obedient", "scripted/reckless", *([SERVED] if served else [])],
        task="constraintrot/suite",
        compactor=compactors.split(","),
        defense=["none", "pin"],
        context_tokens=300,
        variants=variants,
        block=block,
        epochs=epochs,
        servers={SERVED: SERVER},
        # Scripts answer at once, so the harness and the log take most of the time.
        options={"score_display": False},
    )
