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

from typing import Any

from google.adk.agents import BaseAgent, LlmAgent, ManagedAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types
from google.genai._transformers import t_part

from constraintrot.defenses.pinning.block_removal import Removed
from constraintrot.defenses.pinning.content_parts import placed_content
from constraintrot.defenses.pinning.message_list import refuse_replacing
from constraintrot.defenses.pinning.pinned_block import (
    HEADING,
    LOGGER,
    PinnedBlock,
    Rendering,
    Report,
    State,
)
from constraintrot.defenses.rampart import Registry
from constraintrot.errors import ParameterError
from constraintrot.harnesses.traced_receipts import trace_receipt

_STEPS = "_constraintrot_steps"


class PinPlugin(BasePlugin):
    """Puts a registry's pins into the system instruction of each request.

    ADK builds each request from the session after compaction, so the pins are neither
    summarised nor stored. All agents of the app are pinned, also one that another calls as
    a tool. Plugins do not see a summarizer's calls, the calls of ``run_live`` (whose
    receipts say ``absent``) or those of a ``ManagedAgent`` (which is refused).

    ADK runs other plugins and an agent's own ``before_model_callback`` after this one.
    The plugin therefore appends a callback to the agent's, which runs last and restores
    pins that one of these removed.

    The name is unique in an app. A PinnedBlock has a heading and a report of its own; by
    default receipts go to the logger ``constraintrot.pins`` and ADK's open span.
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
        self.pinned_block = PinnedBlock.of(pins, heading=heading, report=report)

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Put the pins into the request, and let the call go on."""
        if _is_live(callback_context):
            LOGGER.warning("run_live opens its session with the model before any plugin: no pins")
            self.pinned_block.receipt("absent")
            return None
        if _verifies_last(callback_context):
            changed, removed = self._place(llm_request, self.pinned_block.rendering())
            _steps(callback_context)[id(self)] = ("injected" if changed else "verified", removed)
        else:
            self.pin(llm_request)
        return None

    async def before_agent_callback(
        self, *, agent: BaseAgent, callback_context: CallbackContext
    ) -> types.Content | None:
        """Let an agent run.

        Raises:
            ParameterError: the agent's requests bypass all plugins.
        """
        # A function can add the pins itself; a fixed text cannot.
        if isinstance(agent, ManagedAgent) and not callable(agent.instruction):
            raise ParameterError(
                f"{agent.name} calls its model past all plugins; give it the pins by"
                " instruction=lambda _: pinned_block.into('...')"
            )
        return None

    def pin(
        self, request: LlmRequest, before: tuple[State, tuple[Removed, ...]] | None = None
    ) -> None:
        """Put the pins at the end of a request's system instruction, once, and report.

        ``before`` is the plugin's earlier change to the request.
        """
        now = self.pinned_block.rendering()
        changed, removed = self._place(request, now)
        state: State = "injected" if changed else "verified"
        if before is not None:
            state, removed = ("repaired" if changed else before[0]), (*before[1], *removed)
        self.pinned_block.receipt(state, at=-1, removed=removed, now=now)

    def _place(self, request: LlmRequest, now: Rendering) -> tuple[bool, tuple[Removed, ...]]:
        """Put the pins into a request; return whether it changed, and the removed blocks."""
        if request.config is None:
            request.config = types.GenerateContentConfig()
        if now.text and any(
            getattr(one, "computer_use", None) for one in request.config.tools or ()
        ):
            raise ParameterError(
                "ADK's Gemini empties the system instruction of a request with computer use, behind"
                " all callbacks; give these tools to an agent of an app without pins"
            )
        extra = getattr(request.config.http_options, "extra_body", None)
        refuse_replacing(self.pinned_block, extra)
        given = request.config.system_instruction
        if given is None or isinstance(given, str):
            text, removed = self.pinned_block.placed(given or "", now)
            if text == (given or ""):
                return False, ()
            request.config.system_instruction = text or None
            return True, removed
        # An agent's own callback may have set parts; they stay separate.
        whole = _whole(given)
        kept, removed = placed_content(
            whole.parts or [], self.pinned_block, now, lambda text: types.Part(text=text)
        )
        if kept is whole.parts and (whole is given or not now.text):
            return False, ()
        # Most of ADK's models ignore an instruction that is neither a text nor a Content.
        request.config.system_instruction = whole.model_copy(update={"parts": kept})
        return True, removed


def _whole(instruction: Any) -> types.Content:
    """Return an instruction that is not a text as a Content."""
    if isinstance(instruction, types.Content):
        return instruction
    parts: list[Any] = instruction if isinstance(instruction, list) else [instruction]
    return types.Content(role="user", parts=[t_part(part) for part in parts])


def _is_live(context: CallbackContext) -> bool:
    invocation = context._invocation_context
    return invocation.live_request_queue is not None


def _steps(context: CallbackContext) -> dict[int, tuple[State, tuple[Removed, ...]]]:
    """Return each plugin's change to the request of a context, by the plugin's ``id``."""
    steps: dict[int, tuple[State, tuple[Removed, ...]]]
    steps = context.__dict__.setdefault(_STEPS, {})
    return steps


def _verifies_last(context: CallbackContext) -> bool:
    """Put ``_last`` at the end of the agent's callbacks; return False if it has no callbacks."""
    agent = context._invocation_context.agent
    if not isinstance(agent, LlmAgent):
        return False
    own = [one for one in agent.canonical_before_model_callbacks if one is not _last]
    if agent.canonical_before_model_callbacks != [*own, _last]:
        agent.before_model_callback = [*own, _last]
    return True


def _last(callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
    """Verify the pins of each plugin of the app, right before the model is called."""
    if _is_live(callback_context):
        return None
    context = callback_context._invocation_context
    steps = _steps(callback_context)
    for plugin in context.plugin_manager.plugins:
        if isinstance(plugin, PinPlugin):
            plugin.pin(llm_request, steps.get(id(plugin)))
    return None
