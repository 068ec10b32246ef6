"""deepagents: create_deep_agent with its summarization, files and subagents."""

from constraintrot.evaluation.harness import FRAMEWORK_HOOKS, Needs, harness, imported_when_made

harness(
    "deepagents",
    hooks=FRAMEWORK_HOOKS,
    modes=("summarization",),
    needs=(Needs("deepagents", "0.7.32", "0.8"), Needs("langchain", "1.4.7", "2")),
    extra="deepagents",
)(imported_when_made("constraintrot.harnesses.deepagents.harness:deepagents"))
