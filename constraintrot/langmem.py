"""LangMem: a registry's pins behind its summarization node."""

from constraintrot.extras import needing

with needing("constraintrot.langmem", "langmem"):
    from constraintrot.harnesses.langchain_family.pinned_model import pinned_model
    from constraintrot.harnesses.langgraph.pins import PinNode, pin_node

__all__ = ["PinNode", "pin_node", "pinned_model"]
