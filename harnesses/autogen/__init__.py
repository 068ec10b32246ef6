"""AutoGen: an AssistantAgent with one of autogen-core's model contexts."""

from constraintrot.evaluation.harness import FRAMEWORK_HOOKS, Needs, harness, imported_when_made

harness(
    "autogen",
    hooks=FRAMEWORK_HOOKS,
    modes=("buffered", "token_limited", "head_and_tail", "memory"),
    needs=(Needs("autogen-agentchat", "0.7.5", "0.8"), Needs("autogen-core", "0.7.5", "0.8")),
    extra="autogen",
)(imported_when_made("constraintrot.harnesses.autogen.harness:autogen"))
