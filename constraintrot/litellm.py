"""LiteLLM's proxy: a registry's pins as a guardrail in front of every model."""

from constraintrot.extras import needing

with needing("constraintrot.litellm", "litellm"):
    from constraintrot.harnesses.litellm.guardrail import HEADER, RECEIPT, PinGuardrail

__all__ = ["HEADER", "RECEIPT", "PinGuardrail"]
