"""Microsoft's agent-framework: an Agent with one of the framework's compaction strategies."""

from constraintrot.evaluation.harness import FRAMEWORK_HOOKS, Needs, harness, imported_when_made

harness(
    "agent_framework",
    hooks=FRAMEWORK_HOOKS,
    modes=(
        "truncation",
        "truncation_first_user",
        "sliding_window",
        "summarization",
        "tool_result",
        "token_budget",
    ),
    needs=(Needs("agent-framework-core", "1.23", "2"),),
    extra="agent-framework",
)(imported_when_made("constraintrot.harnesses.agent_framework.harness:agent_framework"))
