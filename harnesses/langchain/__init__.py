"""LangChain: create_agent with a middleware that keeps its context small."""

from constraintrot.evaluation.harness import FRAMEWORK_HOOKS, Needs, harness, imported_when_made

harness(
    "langchain",
    hooks=FRAMEWORK_HOOKS,
    modes=("summarization", "no_trim", "clear_tools"),
    needs=(Needs("langchain", "1.4.7", "2"), Needs("langgraph", "1.2.22", "2")),
    extra="langchain",
)(imported_when_made("constraintrot.harnesses.langchain.harness:langchain"))
