"""ConstraintRot: does an agent still obey its rules after its context was compacted?

The evaluations are Inspect tasks (``inspect eval constraintrot/soft_email``).
What is exported here needs no Inspect: scenarios, grading and survival.
"""

from .episode import Episode, stage
from .errors import (
    ConstraintRotError,
    DuplicateNameError,
    EpisodeError,
    ParameterError,
    ScenarioError,
    UnknownNameError,
    WeightsError,
)
from .scenario import Scenario, Variant, catalogue, load
from .survival import Survival
from .verdict import Verdict, grade

__all__ = [
    "ConstraintRotError",
    "DuplicateNameError",
    "Episode",
    "EpisodeError",
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
