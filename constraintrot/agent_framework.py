"""Microsoft's agent-framework: a registry's pins in what a chat client sends."""

from constraintrot.extras import needing

with needing("constraintrot.agent_framework", "agent-framework"):
    from constraintrot.harnesses.agent_framework.pins import pinned_client

__all__ = ["pinned_client"]
