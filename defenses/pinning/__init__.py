"""Constraint Pinning: a registry's pins in the context of any caller of the model.

For any Inspect agent that compacts its history:

>>> from inspect_ai.agent import react
>>> from inspect_ai.model import CompactionSummary
>>> from constraintrot.defenses.rampart import Principal, Registry
>>> operator = Principal("operator")
>>> rules = Registry(operator)
>>> block = rules.pin("Send email only to addresses at example.org.", by=operator)
>>> agent = react(
...     model=PinnedModel(rules), compaction=PinnedCompaction(CompactionSummary(), rules)
... )

Governance Decay, section 7: pins are exempt from compaction, put back word for
word after each one, and their presence is checked at every step.

All names here need Inspect, and are imported on first use; ``pinned_block`` does not.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from constraintrot.defenses.pinning.compaction import PinnedCompaction
    from constraintrot.defenses.pinning.model import PinnedModel, pin_filter
    from constraintrot.defenses.pinning.pins import Judge, Pins, entailment
else:

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


__all__ = ["Judge", "PinnedCompaction", "PinnedModel", "Pins", "entailment", "pin_filter"]

_MODULES: Final = {
    "Judge": "pins",
    "PinnedCompaction": "compaction",
    "PinnedModel": "model",
    "Pins": "pins",
    "entailment": "pins",
    "pin_filter": "model",
}
