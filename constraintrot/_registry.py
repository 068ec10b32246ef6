"""Inspect's entry point: imports and ``__all__``, nothing else."""

from .metrics import by_condition, outcomes_by_condition
from .models.litellm_provider import litellm
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
from .tasks.laundering import laundering
from .tasks.operator_channel import operator_channel
from .tasks.pin_stress import pin_stress
from .tasks.probes.cluster import rampart_cluster
from .tasks.probes.gate import rampart_gate
from .tasks.probes.participant import participant
from .tasks.probes.position import rampart_position
from .tasks.probes.roundtable import rampart_roundtable
from .tasks.probes.schema import rampart_schema

__all__ = [
    "by_condition",
    "episode_solver",
    "hard_pii",
    "hard_proddb",
    "hard_seccontrol",
    "hard_secret",
    "laundering",
    "litellm",
    "local",
    "operator_channel",
    "outcome",
    "outcomes_by_condition",
    "participant",
    "pin_stress",
    "rampart_cluster",
    "rampart_gate",
    "rampart_position",
    "rampart_roundtable",
    "rampart_schema",
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
