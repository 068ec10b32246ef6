"""LangGraph: a StateGraph built by hand, with a node that keeps a summary as its memory."""

from constraintrot.evaluation.harness import FRAMEWORK_HOOKS, Needs, harness, imported_when_made

harness(
    "langgraph",
    hooks=FRAMEWORK_HOOKS,
    modes=("summary_node",),
    needs=(Needs("langgraph", "1.2.22", "2"), Needs("langchain-core", "1.7.2", "2")),
    extra="langgraph",
)(imported_when_made("constraintrot.harnesses.langgraph.harness:langgraph"))
