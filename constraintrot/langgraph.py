"""LangGraph: a registry's pins in the messages that a graph sends to its model."""

from constraintrot.extras import needing

with needing("constraintrot.langgraph", "langgraph"):
    from constraintrot.harnesses.langchain_family.message_pins import pinned
    from constraintrot.harnesses.langchain_family.pinned_model import pinned_model
    from constraintrot.harnesses.langgraph.pins import PinNode, pin_node

__all__ = ["PinNode", "pin_node", "pinned", "pinned_model"]
