"""deepagents: a registry's pins in the agent and in its subagents."""

from constraintrot.extras import needing

with needing("constraintrot.deepagents", "deepagents"):
    from constraintrot.harnesses.deepagents.pins import PinMiddleware, pinned_subagents
    from constraintrot.harnesses.langchain_family.pinned_model import pinned_model

__all__ = ["PinMiddleware", "pinned_model", "pinned_subagents"]
