"""LiteLLM's proxy: a registry's pins as a guardrail in front of every model."""

from constraintrot.harnesses.litellm.guardrail import HEADER, RECEIPT, PinGuardrail

__all__ = ["HEADER", "RECEIPT", "PinGuardrail"]
