"""ConstraintRot: does an agent still obey its rules after its context was compacted?

The evaluations are Inspect tasks (``inspect eval constraintrot/soft_email``).
What is exported here needs no Inspect: scenarios, grading and survival.
"""

from constraintrot.episode.episode import Episode
from constraintrot.episode.staging import stage
from constraintrot.errors import (
    ConstraintRotError,
    DuplicateNameError,
    EpisodeError,
    ParameterError,
    ScenarioError,
    UnknownNameError,
    WeightsError,
)
from constraintrot.grading.survival import Survival
from constraintrot.grading.verdict import Verdict, grade
from constraintrot.scenario.files import catalogue, load
from constraintrot.scenario.schema import Scenario, Variant

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
