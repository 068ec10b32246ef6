"""Inspect's own react() agent, with each of Inspect's compaction strategies."""

from constraintrot.evaluation.harness import FRAMEWORK_HOOKS, Needs, harness, imported_when_made

harness(
    "inspect_react",
    hooks=FRAMEWORK_HOOKS,
    modes=("summary", "trim", "edit", "auto", "native"),
    needs=(Needs("inspect-ai", "0.3.285", "0.4"),),
)(imported_when_made("constraintrot.harnesses.inspect_react.harness:inspect_react"))
