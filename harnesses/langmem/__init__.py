"""LangMem: its SummarizationNode before the model's node of a StateGraph."""

from constraintrot.evaluation.harness import FRAMEWORK_HOOKS, Needs, harness, imported_when_made

harness(
    "langmem",
    hooks=FRAMEWORK_HOOKS,
    modes=("default", "headroom"),
    needs=(
        Needs("langmem", "0.0.30", "0.1"),
        Needs("langgraph", "1.2.22", "2"),
        Needs("langchain-core", "1.7.2", "2"),
    ),
    extra="langmem",
)(imported_when_made("constraintrot.harnesses.langmem.harness:langmem"))
