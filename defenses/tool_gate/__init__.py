"""Gating calls: each is checked against the policies by a verifier before it runs.

This registers the defenses ``tool_gate`` and ``pin_gate``. It needs no Inspect.
"""

from constraintrot.defenses.tool_gate.gate import ToolGate, ask
from constraintrot.defenses.tool_gate.verifier import Decision, Verifier

__all__ = ["Decision", "ToolGate", "Verifier", "ask"]
