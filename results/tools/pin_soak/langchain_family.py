"""The agents of LangChain's family, for the soak."""

from __future__ import annotations

from typing import Any

from results.tools.pin_soak.agents import Played, Turn


class LangChain(Played):
    """``create_agent`` with a summarization; behind the pins, prompts are edited and calls fail."""

    fails = True

    def open(self) -> None:
        from langgraph.checkpoint.memory import InMemorySaver

        self.saver = InMemorySaver()
        self.script: list[Any] = []
        self.recorder = self.model()

    def model(self) -> Any:
        from langchain_core.messages import AIMessage

        from tests.harnesses.langchain_fakes import Recorder

        played = self

        class Keeps(Recorder):
            def _next(self, messages: list[Any]) -> Any:
                first = messages[0].text if messages and messages[0].type == "system" else ""
                said = messages[messages[0].type == "system" :] if messages else []
                played.was_sent([first, *(message.text for message in said)])
                if played.fails and len(played.sent) % 5 == 4:
                    raise ConnectionError
                return played.script.pop(0) if played.script else AIMessage("Done.")

        return Keeps()

    def behind(self) -> list[Any]:
        """Middleware that comes after the pins."""
        from langchain.agents.middleware import ModelFallbackMiddleware, ModelRetryMiddleware

        fallback = ModelFallbackMiddleware(self.model())
        again = ModelRetryMiddleware(max_retries=1, initial_delay=0, jitter=False)
        repeat = fallback if self.thread % 2 else again
        return [repeat, *edits(self.system, self.chance)]

    def build(self) -> None:
        from langchain.agents import create_agent
        from langchain.agents.middleware import SummarizationMiddleware
        from langchain_core.language_models import FakeListChatModel
        from langchain_core.tools import StructuredTool

        from constraintrot.harnesses.langchain.pins import PinMiddleware

        pins = [PinMiddleware(one, name=f"pins {n}") for n, one in enumerate(self.blocks)]
        writer = FakeListChatModel(responses=["Some work."])
        shorter = SummarizationMiddleware(writer, trigger=("messages", 8), keep=("messages", 4))
        self.agent: Any = create_agent(
            self.recorder,
            tools=[StructuredTool.from_function(self.look, name="look")],
            system_prompt=self.system,
            middleware=[*pins, shorter, *self.behind()],
            checkpointer=self.saver,
        )

    async def say(self, turn: Turn) -> None:
        from langchain_core.messages import AIMessage

        self.outputs = list(turn.outputs)
        look = [AIMessage("", tool_calls=[call(number)]) for number in range(len(turn.outputs))]
        self.script[:] = [*look, AIMessage(turn.reply)]
        await self.ask(turn)

    def opening(self) -> list[Any]:
        """What a conversation begins with."""
        return []

    async def ask(self, turn: Turn) -> None:
        """Have the agent answer: streamed, or whole in one of two ways."""
        from langchain_core.messages import HumanMessage

        config: Any = {"configurable": {"thread_id": str(self.thread)}}
        opening = [] if self.sent else self.opening()
        asked = {"messages": [*opening, HumanMessage(turn.user)]}
        if turn.streamed:
            async for _ in self.agent.astream(asked, config, stream_mode="messages"):
                pass
        elif self.thread % 2:
            await self.agent.ainvoke(asked, config)
        else:
            self.agent.invoke(asked, config)


def edits(system: str, chance: float) -> list[Any]:
    """Middleware that writes the system message anew, or on."""
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.messages import SystemMessage

    def edited(request: Any) -> Any:
        said = system if chance < 0.3 else f"{request.system_message.text} Today is Monday."
        return request.override(system_message=SystemMessage(said))

    class Prompt(AgentMiddleware[Any, Any, Any]):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            return handler(edited(request))

        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            return await handler(edited(request))

    return [Prompt()] if chance < 0.6 else []


def call(number: int) -> Any:
    """A call of the tool, as LangChain has it."""
    return {"name": "look", "args": {}, "id": f"call {number}"}


class LangGraph(LangChain):
    """A graph built by hand; half the time with a model that pins by itself."""

    fails = False

    def build(self) -> None:
        from langchain_core.messages import SystemMessage
        from langgraph.graph import START, MessagesState, StateGraph

        from constraintrot.harnesses.langchain_family.message_pins import pinned
        from constraintrot.harnesses.langchain_family.pinned_model import pinned_model

        model, system = self.recorder, self.system
        own = self.blocks if self.chance < 0.5 else []
        for block in self.blocks if self.chance >= 0.5 else []:
            model = pinned_model(model, block)

        def call_model(state: Any) -> dict[str, Any]:
            sent: list[Any] = [SystemMessage(system), *state["messages"]]
            for block in own:
                sent = pinned(sent, block)
            return {"messages": [model.invoke(sent)]}

        graph = StateGraph(MessagesState)
        graph.add_node("call_model", call_model)
        graph.add_edge(START, "call_model")
        self.compile(graph, "call_model")

    def compile(self, graph: Any, start: str) -> None:
        """Add the tools, after which the graph goes on where it starts."""
        from langchain_core.messages import ToolMessage

        def tools(state: Any) -> dict[str, Any]:
            calls = state["messages"][-1].tool_calls
            return {"messages": [ToolMessage(self.look(), tool_call_id=c["id"]) for c in calls]}

        def after(state: Any) -> str:
            return "tools" if getattr(state["messages"][-1], "tool_calls", None) else "__end__"

        graph.add_node("tools", tools)
        graph.add_conditional_edges("call_model", after)
        graph.add_edge("tools", start)
        self.agent = graph.compile(checkpointer=self.saver)


class LangMem(LangGraph):
    """LangMem's node before the model's; the pins in a node behind it or around it, or the model's."""

    def opening(self) -> list[Any]:
        from langchain_core.messages import SystemMessage

        return [SystemMessage(self.system)]

    def build(self) -> None:
        from langchain_core.language_models import FakeListChatModel
        from langgraph.graph import START, MessagesState, StateGraph

        from constraintrot.harnesses.langchain_family.pinned_model import pinned_model
        from constraintrot.harnesses.langgraph.pins import pin_node
        from constraintrot.harnesses.langmem.short_term import SummarizationNode

        class State(MessagesState):
            context: dict[str, Any]
            summarized_messages: list[Any]

        writer = FakeListChatModel(responses=["Some work."])
        shorten: Any = SummarizationNode(
            model=writer, max_tokens=4000, max_tokens_before_summary=400, max_summary_tokens=50
        )
        model, nodes = self.recorder, [shorten]
        for block in self.blocks:
            if self.chance < 0.3:
                nodes.append(pin_node(block, key="summarized_messages"))
            elif self.chance < 0.6:
                nodes = [pin_node(block, key="summarized_messages", after=nodes[0])]
            else:
                model = pinned_model(model, block)

        def call_model(state: State) -> dict[str, Any]:
            return {"messages": [model.invoke(state["summarized_messages"])]}

        graph = StateGraph(State)
        names = [f"node {number}" for number in range(len(nodes))]
        for name, node in zip(names, nodes, strict=True):
            graph.add_node(name, node)
        graph.add_node("call_model", call_model)
        for before, behind in zip([START, *names], [*names, "call_model"], strict=True):
            graph.add_edge(before, behind)
        self.compile(graph, names[0])


class DeepAgents(LangChain):
    """``create_deep_agent``, which may delegate."""

    delegates = True

    def build(self) -> None:
        from deepagents import create_deep_agent
        from langchain_core.tools import StructuredTool

        from constraintrot.harnesses.deepagents.pins import PinMiddleware, pinned_subagents

        pins = [PinMiddleware(one, name=f"pins {n}") for n, one in enumerate(self.blocks)]
        subagents: Any = None
        for pin in pins:
            subagents = pinned_subagents(pin, subagents or [])
        self.agent = create_deep_agent(
            self.recorder,
            tools=[StructuredTool.from_function(self.look, name="look")],
            system_prompt=self.system,
            middleware=[*pins, *self.behind()],
            subagents=subagents,
            checkpointer=self.saver,
        )

    async def say(self, turn: Turn) -> None:
        from langchain_core.messages import AIMessage

        # The sub-agent has nothing that asks again.
        self.fails = not turn.delegated
        if not turn.delegated:
            await super().say(turn)
            return
        task = {"description": turn.user, "subagent_type": "general-purpose"}
        calls: Any = [{"name": "task", "args": task, "id": "task"}]
        self.script[:] = [AIMessage("", tool_calls=calls), AIMessage("Done."), AIMessage("Ok.")]
        await self.ask(turn)
