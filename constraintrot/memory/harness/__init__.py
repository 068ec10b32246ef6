"""A context pipeline between the agent and its model: caches, pruning, compaction, masking."""

from constraintrot.evaluation.defense import HOOKS
from constraintrot.evaluation.harness import harness, imported_when_made

harness("pipeline", hooks=HOOKS | {"framework_pins"})(
    imported_when_made("constraintrot.memory.harness.harness:pipeline")
)
