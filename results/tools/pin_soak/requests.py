"""Requests without an agent's framework around them, for the soak: Inspect's and a proxy's."""

from __future__ import annotations

import os
from typing import Any

from results.tools.pin_soak.agents import Played, Turn


class InspectAI(Played):
    """Inspect's model, pinned, in an agent's loop; after some turns the history is shortened."""

    streams = False

    def build(self) -> None:
        from inspect_ai.model import ChatMessageSystem, ModelOutput, get_model

        from constraintrot.defenses.pinning import PinnedModel

        def answer(messages: Any, tools: Any, choice: Any, config: Any) -> Any:
            self.was_sent([message.text for message in messages])
            return ModelOutput.from_content("mockllm/model", self.reply)

        self.reply = ""
        self.model: Any = get_model("mockllm/model", custom_outputs=answer, memoize=False)
        for block in self.blocks:
            pin: Any = PinnedModel(block.registry, self.model, report=block.report)
            pin.pins.heading = block.heading
            self.model = pin
        self.opening = ChatMessageSystem(content=self.system)

    def begin(self) -> None:
        super().begin()
        self.history: list[Any] = [self.opening]

    async def say(self, turn: Turn) -> None:
        from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ChatMessageUser

        self.outputs, self.reply = list(turn.outputs), turn.reply
        self.history.append(ChatMessageUser(content=turn.user))
        for _ in turn.outputs:
            self.history.append(ChatMessageAssistant(content="I look."))
            self.history.append(ChatMessageTool(content=self.look(), function="look"))
            await self.model.generate(self.history)
        await self.model.generate(self.history)
        self.history.append(ChatMessageAssistant(content=turn.reply))
        if len(self.history) > 8:
            summary = ChatMessageUser(content=turn.user, metadata={"summary": True})
            self.history = [self.opening, summary]


class LiteLLM(Played):
    """A proxy's hook before a call, guardrail by guardrail."""

    streams = False

    def build(self) -> None:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        from constraintrot.litellm import PinGuardrail

        self.guards = [
            PinGuardrail(
                block.registry, heading=block.heading, report=block.report, guardrail_name=f"p{n}"
            )
            for n, block in enumerate(self.blocks)
        ]

    def begin(self) -> None:
        super().begin()
        self.history: list[dict[str, Any]] = [{"role": "system", "content": self.system}]

    async def say(self, turn: Turn) -> None:
        self.outputs = list(turn.outputs)
        self.history.append({"role": "user", "content": turn.user})
        for _ in turn.outputs:
            await self._ask()
            self.history.append({"role": "tool", "content": self.look(), "tool_call_id": "1"})
        await self._ask()
        self.history.append({"role": "assistant", "content": turn.reply})

    async def _ask(self) -> None:
        data: dict[str, Any] = {"model": "mine", "messages": [dict(one) for one in self.history]}
        for guard in self.guards:
            hook: Any = guard.async_pre_call_hook
            data = await hook(None, None, data, "acompletion")
        self.was_sent([message["content"] for message in data["messages"]])
