"""LangChain's agents: a registry's pins as a middleware, or in the model itself."""

from constraintrot.extras import needing

with needing("constraintrot.langchain", "langchain"):
    from constraintrot.harnesses.langchain.pins import PinMiddleware
    from constraintrot.harnesses.langchain_family.pinned_model import pinned_model

__all__ = ["PinMiddleware", "pinned_model"]
