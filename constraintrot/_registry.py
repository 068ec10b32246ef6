"""Inspect's entry point: imports and ``__all__``, nothing else."""

from .metrics import by_condition, outcomes_by_condition
from .models.local import local
from .models.scripted import scripted
from .scorers import outcome, recalled, survival, violation
from .scorers import utility as utility_scorer
from .solver import episode_solver
from .tasks.catalogue import (
    hard_pii,
    hard_proddb,
    hard_seccontrol,
    hard_secret,
    soft_channel,
    soft_deploy,
    soft_email,
    soft_language,
    soft_spend,
    suite,
    utility,
)

__all__ = [
    "by_condition",
    "episode_solver",
    "hard_pii",
    "hard_proddb",
    "hard_seccontrol",
    "hard_secret",
    "local",
    "outcome",
    "outcomes_by_condition",
    "recalled",
    "scripted",
    "soft_channel",
    "soft_deploy",
    "soft_email",
    "soft_language",
    "soft_spend",
    "suite",
    "survival",
    "utility",
    "utility_scorer",
    "violation",
]
