"""LangMem's short-term memory, imported without the warnings of what LangMem imports."""

import warnings

with warnings.catch_warnings():
    # One of its dependencies imports from a place that LangGraph is about to remove.
    warnings.simplefilter("ignore", DeprecationWarning)
    # It ships no marker of its types.
    from langmem.short_term import (  # type: ignore[import-untyped]
        RunningSummary,
        SummarizationNode,
    )

__all__ = ["RunningSummary", "SummarizationNode"]
