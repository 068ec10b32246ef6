"""The agents of LangChain's family, for the soak."""

from __future__ import annotations

from typing import Any

from results.tools.pin_soak.agents import Played, Turn


class LangChain(Played):
    """``create_agent`` with a summarization, and half the time a prompt made behind the pins."""

    def model(self) -> Any:
        from tests.harnesses.langchain_fakes import Recorder

        played = self

        class Keeps(Recorder):
            def _next(self, messages: list[Any]) -> Any:
                first = messages[0].text if messages and messages[0].type == "system" else ""
                said = messages[messages[0].type == "system" :] if messages else []
                played.was_sent([first, *(message.text for message in said)])
                return super()._next(messages)

        self.recorder = Keeps()
        return self.recorder

    def build(self) -> None:
        from langchain.agents import create_agent
        from langchain.agents.middleware import AgentMiddleware, SummarizationMiddleware
        from langchain_core.messages import SystemMessage
        from langchain_core.tools import StructuredTool
        from langgraph.checkpoint.memory import InMemorySaver

        from constraintrot.defenses.frameworks.langchain import PinMiddleware
        from tests.harnesses.langchain_fakes import Recorder

        system = self.system

        class Prompt(AgentMiddleware[Any, Any, Any]):
            def wrap_model_call(self, request: Any, handler: Any) -> Any:
                return handler(request.override(system_message=SystemMessage(system)))

            async def awrap_model_call(self, request: Any, handler: Any) -> Any:
                return await handler(request.override(system_message=SystemMessage(system)))

        pins = [PinMiddleware(one, name=f"pins {n}") for n, one in enumerate(self.blocks)]
        shorter = SummarizationMiddleware(
            Recorder(reply="Some work."), trigger=("messages", 8), keep=("messages", 4)
        )
        self.agent: Any = create_agent(
            self.model(),
            tools=[StructuredTool.from_function(self.look, name="look")],
            system_prompt=system,
            middleware=[*pins, shorter, *([Prompt()] if self.chance < 0.5 else [])],
            checkpointer=InMemorySaver(),
        )

    async def say(self, turn: Turn) -> None:
        from langchain_core.messages import AIMessage, HumanMessage

        self.outputs = list(turn.outputs)
        look = [AIMessage("", tool_calls=[call(number)]) for number in range(len(turn.outputs))]
        self.recorder.script[:] = [*look, AIMessage(turn.reply)]
        config: Any = {"configurable": {"thread_id": str(self.thread)}}
        asked = {"messages": [HumanMessage(turn.user)]}
        if turn.streamed:
            async for _ in self.agent.astream(asked, config, stream_mode="messages"):
                pass
        else:
            self.agent.invoke(asked, config)


def call(number: int) -> Any:
    """A call of the tool, as LangChain has it."""
    return {"name": "look", "args": {}, "id": f"call {number}"}


class LangGraph(LangChain):
    """A graph built by hand; half the time with a model that pins by itself."""

    def build(self) -> None:
        from langchain_core.messages import SystemMessage, ToolMessage
        from langgraph.checkpoint.memory import InMemorySaver
        from langgraph.graph import START, MessagesState, StateGraph

        from constraintrot.defenses.frameworks.langchain_model import pinned_model
        from constraintrot.defenses.frameworks.langgraph import pinned

        model, system, look = self.model(), self.system, self.look
        own = self.blocks if self.chance < 0.5 else []
        for block in self.blocks if self.chance >= 0.5 else []:
            model = pinned_model(model, block)

        def call_model(state: Any) -> dict[str, Any]:
            sent: list[Any] = [SystemMessage(system), *state["messages"]]
            for block in own:
                sent = pinned(sent, block)
            return {"messages": [model.invoke(sent)]}

        def tools(state: Any) -> dict[str, Any]:
            calls = state["messages"][-1].tool_calls
            return {"messages": [ToolMessage(look(), tool_call_id=one["id"]) for one in calls]}

        def after(state: Any) -> str:
            return "tools" if getattr(state["messages"][-1], "tool_calls", None) else "__end__"

        graph = StateGraph(MessagesState)
        graph.add_node("call_model", call_model)
        graph.add_node("tools", tools)
        graph.add_edge(START, "call_model")
        graph.add_conditional_edges("call_model", after)
        graph.add_edge("tools", "call_model")
        self.agent = graph.compile(checkpointer=InMemorySaver())


class DeepAgents(LangChain):
    """``create_deep_agent``, which may delegate."""

    delegates = True

    def build(self) -> None:
        from deepagents import create_deep_agent
        from langchain_core.tools import StructuredTool
        from langgraph.checkpoint.memory import InMemorySaver

        from constraintrot.defenses.frameworks.deepagents import PinMiddleware, pinned_subagents

        pins = [PinMiddleware(one, name=f"pins {n}") for n, one in enumerate(self.blocks)]
        subagents: Any = None
        for pin in pins:
            subagents = pinned_subagents(pin, subagents or [])
        self.agent = create_deep_agent(
            self.model(),
            tools=[StructuredTool.from_function(self.look, name="look")],
            system_prompt=self.system,
            middleware=pins,
            subagents=subagents,
            checkpointer=InMemorySaver(),
        )

    async def say(self, turn: Turn) -> None:
        from langchain_core.messages import AIMessage

        await super().say(turn) if not turn.delegated else await self._delegated(turn, AIMessage)

    async def _delegated(self, turn: Turn, message: Any) -> None:
        from langchain_core.messages import HumanMessage

        task = {"description": turn.user, "subagent_type": "general-purpose"}
        calls = [{"name": "task", "args": task, "id": "task"}]
        self.recorder.script[:] = [message("", tool_calls=calls), message("Done."), message("Ok.")]
        config: Any = {"configurable": {"thread_id": str(self.thread)}}
        self.agent.invoke({"messages": [HumanMessage(turn.user)]}, config)
