"""ConstraintRot: does an agent still obey its rules after its context was compacted?

The evaluations are Inspect tasks (``inspect eval constraintrot/soft_email``).
The names exported here (scenarios, grading, survival) need no Inspect. Each is
imported at its first use, because an agent that only pins its policies imports
this package too.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from constraintrot._links import FAULT, LINKED
from constraintrot.errors import (
    ConstraintRotError,
    DuplicateNameError,
    EpisodeError,
    MissingExtraError,
    ParameterError,
    ScenarioError,
    UnknownNameError,
    WeightsError,
)

if TYPE_CHECKING:
    from constraintrot.episode.episode import Episode
    from constraintrot.episode.staging import stage
    from constraintrot.grading.survival import Survival
    from constraintrot.grading.verdict import Verdict, grade
    from constraintrot.scenario.files import catalogue, load
    from constraintrot.scenario.schema import Scenario, Variant

__all__ = [
    "ConstraintRotError",
    "DuplicateNameError",
    "Episode",
    "EpisodeError",
    "MissingExtraError",
    "ParameterError",
    "Scenario",
    "ScenarioError",
    "Survival",
    "UnknownNameError",
    "Variant",
    "Verdict",
    "WeightsError",
    "catalogue",
    "grade",
    "load",
    "stage",
]

_MODULES = {
    "Episode": "constraintrot.episode.episode",
    "stage": "constraintrot.episode.staging",
    "Survival": "constraintrot.grading.survival",
    "Verdict": "constraintrot.grading.verdict",
    "grade": "constraintrot.grading.verdict",
    "catalogue": "constraintrot.scenario.files",
    "load": "constraintrot.scenario.files",
    "Scenario": "constraintrot.scenario.schema",
    "Variant": "constraintrot.scenario.schema",
}

for _name in LINKED:
    # ``is_file``, not ``not is_dir``: a frozen application may have no folder at all.
    if (Path(__file__).parent / _name).is_file():
        raise ImportError(FAULT.format(_name))


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
