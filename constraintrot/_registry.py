"""Inspect's entry point: imports and ``__all__``, nothing else."""

import sys

from constraintrot.evaluation.awareness import awareness
from constraintrot.evaluation.metrics import (
    by_condition,
    outcomes_by_condition,
    parts_by_condition,
)
from constraintrot.evaluation.scorers import outcome, recalled, refusal, survival, violation
from constraintrot.evaluation.scorers import utility as utility_scorer
from constraintrot.evaluation.solver import episode_solver
from constraintrot.models.in_process.local import local
from constraintrot.models.litellm import litellm
from constraintrot.models.scripted.agents import scripted
from constraintrot.tasks.catalogue import (
    hard_pii,
    hard_proddb,
    hard_prompt,
    hard_seccontrol,
    hard_secret,
    soft_approval,
    soft_channel,
    soft_deploy,
    soft_email,
    soft_language,
    soft_spend,
    soft_tone,
    suite,
    utility,
)
from constraintrot.tasks.laundering import laundering
from constraintrot.tasks.mine import mine
from constraintrot.tasks.operator_channel import operator_channel
from constraintrot.tasks.pin_stress import pin_stress
from constraintrot.tasks.probes.gate import rampart_gate
from constraintrot.tasks.probes.schema import rampart_schema
from constraintrot.tasks.probes.sweeps import rampart_cluster, rampart_position
from constraintrot.tasks.qualification import qualification

__all__ = [
    "awareness",
    "by_condition",
    "episode_solver",
    "hard_pii",
    "hard_proddb",
    "hard_prompt",
    "hard_seccontrol",
    "hard_secret",
    "laundering",
    "litellm",
    "local",
    "mine",
    "operator_channel",
    "outcome",
    "outcomes_by_condition",
    "parts_by_condition",
    "pin_stress",
    "qualification",
    "rampart_cluster",
    "rampart_gate",
    "rampart_position",
    "rampart_schema",
    "recalled",
    "refusal",
    "scripted",
    "soft_approval",
    "soft_channel",
    "soft_deploy",
    "soft_email",
    "soft_language",
    "soft_spend",
    "soft_tone",
    "suite",
    "survival",
    "utility",
    "utility_scorer",
    "violation",
]

# Scout loads this entry point too; nothing else needs its scanners imported.
if "inspect_scout" in sys.modules:
    from constraintrot.doctor.scanners import rule_broken, rule_survival

    __all__ += ["rule_broken", "rule_survival"]
