"""A scripted model that takes its time, so that a test can kill a run in the middle."""

import sys
from typing import Any

import anyio
from inspect_ai import eval as inspect_eval
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from constraintrot.models.scripted.agents import Scripted


@modelapi(name="slow")
def slow() -> type[ModelAPI]:
    """The provider's class."""

    class Slow(Scripted):
        async def generate(
            self,
            input: list[ChatMessage],
            tools: list[ToolInfo],
            tool_choice: ToolChoice,
            config: GenerateConfig,
        ) -> ModelOutput:
            await anyio.sleep(0.4)
            return await super().generate(input, tools, tool_choice, config)

    return Slow


SETTINGS: dict[str, Any] = {
    "tasks": "constraintrot/soft_email",
    "model": "slow/obedient",
    "model_roles": {"summarizer": "slow/summarizer-keep"},
    "task_args": {
        "variants": 4,
        "conditions": "compaction,summary_removed,summary_restored",
        "context_tokens": 800,
    },
}

if __name__ == "__main__":
    inspect_eval(**SETTINGS, log_dir=sys.argv[1], log_buffer=1, max_samples=1, display="none")
