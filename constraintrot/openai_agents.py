"""The OpenAI Agents SDK: a registry's pins in a run or in a model."""

from constraintrot.extras import needing

with needing("constraintrot.openai_agents", "openai-agents"):
    from constraintrot.harnesses.openai_agents.pins import pin_filter, pinned_model

__all__ = ["pin_filter", "pinned_model"]
