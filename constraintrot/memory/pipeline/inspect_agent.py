"""A pipeline in Inspect: around a model, as a solver, or as the filter of a bridged agent.

One pipeline serves many conversations. Each is known by the id of its first message other than a
system message; Inspect keeps that id as the conversation grows.
"""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    execute_tools,
    get_model,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool, ToolCall, ToolChoice, ToolDef, ToolInfo, ToolSource

from constraintrot.defenses.pinning.model import DeferredModel
from constraintrot.errors import ParameterError
from constraintrot.harnesses.inspect_react.client import as_info
from constraintrot.memory.pipeline.context import conversation
from constraintrot.memory.pipeline.pipeline import Pipeline, checked
from constraintrot.memory.pipeline.tools import MetaTools


class PipelineModel(DeferredModel):
    """A model whose calls all go through a pipeline, for ``react(model=...)``.

    By default it is the model being evaluated, looked up at each call.
    """

    pipeline: Pipeline
    tenant: str

    def __init__(
        self, pipeline: Pipeline, model: str | Model | None = None, *, tenant: str = ""
    ) -> None:
        super().__init__(model)
        self.pipeline, self.tenant = checked(pipeline), tenant

    async def generate(
        self,
        input: str | list[ChatMessage],
        tools: Sequence[Tool | ToolDef | ToolInfo | ToolSource] | ToolSource = (),
        tool_choice: ToolChoice | None = None,
        config: GenerateConfig = GenerateConfig(),
        *args: Any,
        **settings: Any,
    ) -> ModelOutput:
        given: list[ChatMessage] = (
            [ChatMessageUser(content=input)] if isinstance(input, str) else input
        )
        infos = [as_info(tool) for tool in tools] if isinstance(tools, Sequence) else []
        return await self.pipeline.generate(
            self.bare, given, infos, session=conversation(given), tenant=self.tenant,
            tool_choice=tool_choice, config=config,
        )  # fmt: skip


def pipeline_filter(
    pipeline: Pipeline, *, tenant: str = ""
) -> Callable[..., Coroutine[Any, Any, ModelOutput]]:
    """Return the filter that takes each call of a bridged agent through a pipeline."""
    checked(pipeline)

    async def ask(
        model: Model,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice | None,
        config: GenerateConfig,
    ) -> ModelOutput:
        return await pipeline.generate(
            model, input, tools, session=conversation(input), tenant=tenant,
            tool_choice=tool_choice, config=config,
        )  # fmt: skip

    return ask


@solver
def pipelined(pipeline: Pipeline, *, tenant: str = "", most: int = 20) -> Solver:
    """Generate through a pipeline, and call tools until the model calls none.

    The solver answers meta-tools. The model is called at most ``most`` times.
    """
    checked(pipeline)
    if most < 1:
        raise ParameterError(f"most is how often the model is asked, 1 or more, not {most}")

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        infos = [as_info(tool) for tool in state.tools]
        for _ in range(most):
            state.output = await pipeline.generate(
                get_model(), state.messages, infos, session=conversation(state.messages),
                tenant=tenant, tool_choice=state.tool_choice,
            )  # fmt: skip
            state.messages.append(state.output.message)
            calls = state.output.message.tool_calls or []
            if not calls or state.completed:
                break
            told = _looked_up(pipeline, infos, calls)
            state.messages += told
            answered = {message.tool_call_id for message in told}
            rest = [call for call in calls if call.id not in answered]
            if rest:
                asked = state.output.message.model_copy(update={"tool_calls": rest})
                ran = await execute_tools([*state.messages[:-1], asked], state.tools)
                state.messages += ran.messages
        return state

    return solve


def _looked_up(
    pipeline: Pipeline, tools: Sequence[ToolInfo], calls: Sequence[ToolCall]
) -> list[ChatMessageTool]:
    """Return the results of the meta-tools among some calls."""
    metas = [layer for layer in pipeline.layers if isinstance(layer, MetaTools)]
    found = [(call, layer.look_up(tools, call)) for layer in metas for call in calls]
    return [
        ChatMessageTool(content=text, function=call.function, tool_call_id=call.id)
        for call, text in found
        if text is not None
    ]
