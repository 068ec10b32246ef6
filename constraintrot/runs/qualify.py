"""The play of a qualification: one task, which resumes its folder's logs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from inspect_ai.model import Model

from constraintrot.report.episode_counts import PlannedEpisodes
from constraintrot.report.frame import samples
from constraintrot.report.planned import planned_episodes
from constraintrot.runs.plan import Size, counted
from constraintrot.runs.play import continued, display
from constraintrot.scenario.splits import QUALIFICATION_SEEDS
from constraintrot.tasks.catalogue import FAMILIES
from constraintrot.tasks.qualification import qualification


def size(task_args: Mapping[str, Any]) -> Size:
    known = {"families": list(FAMILIES), "seed": QUALIFICATION_SEEDS.start}
    return counted("constraintrot/qualification", known | dict(task_args))


def play(
    model: str,
    model_args: Mapping[str, Any],
    roles: Mapping[str, Model],
    task_args: Mapping[str, Any],
    logs: Path,
) -> pd.DataFrame:
    for path in sorted(logs.glob("*.eval")):
        # Inspect ends in a traceback at a damaged log; this error names the log.
        next(samples(path, PlannedEpisodes()), None)
    continued(
        [qualification(**task_args)],
        str(logs),
        model=model,
        model_args=dict(model_args),
        model_roles=dict(roles) or None,
        display=display(),
        log_buffer=1,
    )
    return planned_episodes([logs])
