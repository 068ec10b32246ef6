"""OpenAI Agents SDK: a Runner with a session, and the ways it has to keep that small."""

from constraintrot.evaluation.harness import FRAMEWORK_HOOKS, Needs, harness, imported_when_made

harness(
    "openai_agents",
    hooks=FRAMEWORK_HOOKS,
    modes=("session_limit", "input_callback", "compaction", "trimmer", "summary_input"),
    needs=(Needs("openai-agents", "0.24.0", "0.25"),),
    extra="openai-agents",
)(imported_when_made("constraintrot.harnesses.openai_agents.harness:openai_agents"))
