"""LangMem's short-term memory, imported without its dependencies' warnings."""

import warnings

with warnings.catch_warnings():
    # A dependency uses an import path that LangGraph deprecates.
    warnings.simplefilter("ignore", DeprecationWarning)
    # LangMem has no py.typed marker.
    from langmem.short_term import RunningSummary, SummarizationNode  # type: ignore[import-untyped]

__all__ = ["RunningSummary", "SummarizationNode"]
