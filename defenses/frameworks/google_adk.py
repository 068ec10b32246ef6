"""Constraint Pinning in Google's ADK: a plugin of the app.

>>> from google.adk.models.llm_request import LlmRequest
>>> from constraintrot.defenses.rampart import Principal, Registry
>>> operator = Principal("operator")
>>> rules = Registry(operator)
>>> block = rules.pin("Send email only to addresses at example.org.", by=operator)
>>> request = LlmRequest()
>>> _ = request.append_instructions(["Be brief."])
>>> PinPlugin(rules).pin(request)
>>> "example.org" in request.config.system_instruction
True

It goes into ``App(..., plugins=[PinPlugin(rules)])``.
"""

from __future__ import annotations

from google.adk.agents.callback_context import CallbackContext
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

from constraintrot.defenses.frameworks._otel import trace_receipt
from constraintrot.defenses.pinning.pinned_block import HEADING, PinnedBlock, Report
from constraintrot.defenses.rampart import Registry


class PinPlugin(BasePlugin):
    """Puts a registry's pins into the system instruction of each request.

    A request is built anew from the session for each call, after its events were
    compacted, so nothing summarises the pins and nothing stores them. All agents
    of the app are pinned, also one that another calls as a tool; a summarizer's
    own calls go past the plugins. So do those of ``run_live``.

    Args:
        pins: the registry, or a PinnedBlock made from it.
        name: the plugin's; an app takes each once.
        heading: the line above the pins; a PinnedBlock has its own.
        report: is given each receipt, by default the logger
            ``constraintrot.pins`` and the span that ADK has open; a PinnedBlock has its own.
    """

    def __init__(
        self,
        pins: Registry | PinnedBlock,
        *,
        name: str = "constraintrot_pins",
        heading: str = HEADING,
        report: Report = trace_receipt,
    ) -> None:
        super().__init__(name=name)
        self.pinned_block = (
            pins
            if isinstance(pins, PinnedBlock)
            else PinnedBlock(pins, heading=heading, report=report)
        )

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Pin, and let the call go on."""
        self.pin(llm_request)
        return None

    def pin(self, request: LlmRequest) -> None:
        """Put the pins at the end of a request's system instruction, once."""
        given = request.config.system_instruction
        if given is not None and not isinstance(given, str):
            # Where an agent's own callback made it of parts, they stay apart.
            parts = given.parts or [] if isinstance(given, types.Content) else given
            block = self.pinned_block.into(None)
            own = parts if isinstance(parts, list) else [parts]
            request.config.system_instruction = [*own, *([block] if block else [])]
            return
        kept = self.pinned_block.into(given)
        if kept != (given or "").rstrip("\n"):
            request.config.system_instruction = kept or None
