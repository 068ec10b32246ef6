"""Everything that a component of your own imports: decorators, settings and base classes.

A component is a scenario's predicate, a policy channel, a compactor, an attack, a
defense, a harness or a task; ``docs/add-your-own.md`` has one of each. All but the
predicates need ``constraintrot[eval]``. Each name is imported at its first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from constraintrot._lazy import lazily

if TYPE_CHECKING:
    from constraintrot.attacks import Settings as AttackSettings
    from constraintrot.attacks import attack, attack_from_file
    from constraintrot.attacks.registration import place
    from constraintrot.compactors import Settings as CompactorSettings
    from constraintrot.compactors import compactor
    from constraintrot.compactors import make as make_compactor
    from constraintrot.compactors.turns import flat, partition, summary_message
    from constraintrot.episode.channels import Given, policy_channel, with_policy_turn
    from constraintrot.episode.episode import Episode, Message
    from constraintrot.evaluation.defense import Defense, Deployment, defense
    from constraintrot.evaluation.harness import (
        FRAMEWORK_HOOKS,
        Harness,
        Needs,
        Played,
        harness,
        imported_when_made,
    )
    from constraintrot.evaluation.parameters import TaskParameters
    from constraintrot.harnesses.session import Session
    from constraintrot.scenario.predicate import (
        Finding,
        Predicate,
        clear,
        malformed,
        predicate,
        violates,
    )
    from constraintrot.tasks.build import build
else:
    __getattr__ = lazily(
        __name__,
        {
            "FRAMEWORK_HOOKS": "constraintrot.evaluation.harness",
            "AttackSettings": "constraintrot.attacks:Settings",
            "CompactorSettings": "constraintrot.compactors:Settings",
            "Defense": "constraintrot.evaluation.defense",
            "Deployment": "constraintrot.evaluation.defense",
            "Episode": "constraintrot.episode.episode",
            "Finding": "constraintrot.scenario.predicate",
            "Given": "constraintrot.episode.channels",
            "Harness": "constraintrot.evaluation.harness",
            "Message": "constraintrot.episode.episode",
            "Needs": "constraintrot.evaluation.harness",
            "Played": "constraintrot.evaluation.harness",
            "Predicate": "constraintrot.scenario.predicate",
            "Session": "constraintrot.harnesses.session",
            "TaskParameters": "constraintrot.evaluation.parameters",
            "attack": "constraintrot.attacks",
            "attack_from_file": "constraintrot.attacks",
            "build": "constraintrot.tasks.build",
            "clear": "constraintrot.scenario.predicate",
            "compactor": "constraintrot.compactors",
            "defense": "constraintrot.evaluation.defense",
            "flat": "constraintrot.compactors.turns",
            "harness": "constraintrot.evaluation.harness",
            "imported_when_made": "constraintrot.evaluation.harness",
            "make_compactor": "constraintrot.compactors:make",
            "malformed": "constraintrot.scenario.predicate",
            "partition": "constraintrot.compactors.turns",
            "place": "constraintrot.attacks.registration",
            "policy_channel": "constraintrot.episode.channels",
            "predicate": "constraintrot.scenario.predicate",
            "summary_message": "constraintrot.compactors.turns",
            "violates": "constraintrot.scenario.predicate",
            "with_policy_turn": "constraintrot.episode.channels",
        },
    )

__all__ = [
    "FRAMEWORK_HOOKS",
    "AttackSettings",
    "CompactorSettings",
    "Defense",
    "Deployment",
    "Episode",
    "Finding",
    "Given",
    "Harness",
    "Message",
    "Needs",
    "Played",
    "Predicate",
    "Session",
    "TaskParameters",
    "attack",
    "attack_from_file",
    "build",
    "clear",
    "compactor",
    "defense",
    "flat",
    "harness",
    "imported_when_made",
    "make_compactor",
    "malformed",
    "partition",
    "place",
    "policy_channel",
    "predicate",
    "summary_message",
    "violates",
    "with_policy_turn",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
