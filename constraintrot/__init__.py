"""ConstraintRot: does an agent still obey its rules after its context was compacted?

The evaluations are Inspect tasks (``inspect eval constraintrot/soft_email``). This is
the front door: a registry and its pins, scenarios, episodes and grading. A framework's
pins are in the module of its name, such as ``constraintrot.langgraph``, and whoever
adds a component imports ``constraintrot.extend``.

Each name is imported at its first use, because an agent that only pins its policies
imports this package too. ``PinnedModel``, ``PinnedCompaction``, ``pin_filter`` and
``entailment`` need Inspect.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from constraintrot._lazy import lazily
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
    from constraintrot.defenses.operator.pin_list import load_pins
    from constraintrot.defenses.pinning.compaction import PinnedCompaction
    from constraintrot.defenses.pinning.message_list import pinned, pinned_system
    from constraintrot.defenses.pinning.model import PinnedModel, pin_filter
    from constraintrot.defenses.pinning.pinned_block import PinnedBlock, Receipt
    from constraintrot.defenses.pinning.pins import Pins, entailment
    from constraintrot.defenses.rampart import (
        AuthorityError,
        PinOverflowError,
        Principal,
        Registry,
    )
    from constraintrot.episode.episode import Episode
    from constraintrot.episode.staging import stage
    from constraintrot.grading.verdict import Verdict, grade
    from constraintrot.rule_text.survival import Survival
    from constraintrot.scenario.files import catalogue, load
    from constraintrot.scenario.schema import Scenario, Variant
else:
    __getattr__ = lazily(
        __name__,
        {
            "AuthorityError": "constraintrot.defenses.rampart",
            "Episode": "constraintrot.episode.episode",
            "PinOverflowError": "constraintrot.defenses.rampart",
            "PinnedBlock": "constraintrot.defenses.pinning.pinned_block",
            "PinnedCompaction": "constraintrot.defenses.pinning.compaction",
            "PinnedModel": "constraintrot.defenses.pinning.model",
            "Pins": "constraintrot.defenses.pinning.pins",
            "Principal": "constraintrot.defenses.rampart",
            "Receipt": "constraintrot.defenses.pinning.pinned_block",
            "Registry": "constraintrot.defenses.rampart",
            "Scenario": "constraintrot.scenario.schema",
            "Survival": "constraintrot.rule_text.survival",
            "Variant": "constraintrot.scenario.schema",
            "Verdict": "constraintrot.grading.verdict",
            "catalogue": "constraintrot.scenario.files",
            "entailment": "constraintrot.defenses.pinning.pins",
            "grade": "constraintrot.grading.verdict",
            "load": "constraintrot.scenario.files",
            "load_pins": "constraintrot.defenses.operator.pin_list",
            "pin_filter": "constraintrot.defenses.pinning.model",
            "pinned": "constraintrot.defenses.pinning.message_list",
            "pinned_system": "constraintrot.defenses.pinning.message_list",
            "stage": "constraintrot.episode.staging",
        },
    )

__all__ = [
    "AuthorityError",
    "ConstraintRotError",
    "DuplicateNameError",
    "Episode",
    "EpisodeError",
    "MissingExtraError",
    "ParameterError",
    "PinOverflowError",
    "PinnedBlock",
    "PinnedCompaction",
    "PinnedModel",
    "Pins",
    "Principal",
    "Receipt",
    "Registry",
    "Scenario",
    "ScenarioError",
    "Survival",
    "UnknownNameError",
    "Variant",
    "Verdict",
    "WeightsError",
    "catalogue",
    "entailment",
    "grade",
    "load",
    "load_pins",
    "pin_filter",
    "pinned",
    "pinned_system",
    "stage",
]

for _name in LINKED:
    # ``is_file``, not ``not is_dir``: a frozen application may have no folder at all.
    if (Path(__file__).parent / _name).is_file():
        raise ImportError(FAULT.format(_name))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
