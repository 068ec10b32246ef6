"""PinMiddleware in create_agent and create_deep_agent, with models of LangChain's own kind."""

import asyncio
import doctest
from contextvars import Context
from importlib import import_module
from typing import Any, cast

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelRequest, SummarizationMiddleware
from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import PrivateAttr

from constraintrot.defenses.pinning.pinned_block import PinnedBlock, Receipt
from constraintrot.defenses.rampart import PinOverflowError, Registry
from constraintrot.errors import ParameterError
from constraintrot.harnesses.deepagents.pins import pinned_subagents
from constraintrot.harnesses.langchain.pins import PinMiddleware
from constraintrot.harnesses.langchain_family.pinned_model import pinned_model
from constraintrot.memory.pipeline import Pipeline
from constraintrot.memory.pipeline.cache import ExactCache
from constraintrot.memory.pipeline.langchain import PipelineMiddleware
from constraintrot.memory.pipeline.masking import Masking
from constraintrot.memory.pipeline.profiles import layers
from constraintrot.memory.pipeline.tools import MetaTools
from tests.harnesses.langchain_fakes import ASK, POLICY, Recorder, calling, rules, say
from tests.harnesses.openai_payloads import recorded
from tests.harnesses.rules import LOSSY, OPERATOR, registry


def system_of(pin: PinMiddleware, message: SystemMessage | None) -> SystemMessage | None:
    """The system message of a request that had another."""
    request: Any = ModelRequest(model=Recorder(), messages=ASK["messages"], system_message=message)
    sent = pin.pinned(request)
    assert sent.messages == ASK["messages"]
    assert request.system_message == message
    return sent.system_message


class Wrapping(BaseChatModel):
    """A model that has another one answer, as one does that tries again."""

    inner: Any

    @property
    def _llm_type(self) -> str:
        return "wrapping"

    def _generate(self, messages: list[BaseMessage], *rest: Any, **given: Any) -> ChatResult:
        return cast("ChatResult", self.inner._generate(messages, *rest, **given))


def test_a_pinned_model_within_a_pinned_model_keeps_its_pins() -> None:
    model, ours, theirs = Recorder(), rules(), registry("Close the gate.")
    inner = pinned_model(model, theirs)
    pinned_model(Wrapping(inner=pinned_model(inner, ours)), ours).invoke("Hello")
    (sent,) = model.calls
    assert [sent[0].text.count(text) for text in (POLICY, "Close the gate.")] == [1, 1]


def test_sync_async_and_streaming_calls_are_pinned() -> None:
    model = Recorder()
    agent: Any = create_agent(model, system_prompt="Be brief.", middleware=[PinMiddleware(rules())])
    agent.invoke(ASK)
    asyncio.run(agent.ainvoke(ASK))
    assert list(agent.stream(ASK, stream_mode="messages"))

    async def astream() -> list[Any]:
        return [chunk async for chunk in agent.astream(ASK, stream_mode="messages")]

    assert asyncio.run(astream())
    assert len(model.calls) == 4
    for sent in model.calls:
        assert [message.type for message in sent] == ["system", "human"]
        assert sent[0].text.startswith("Be brief.\n\n")
        assert sent[0].text.count(POLICY) == 1
    # The same bytes each time, so that a prefix cache keeps hitting.
    assert len({sent[0].text for sent in model.calls}) == 1


@pytest.mark.parametrize("first", [True, False])
def test_it_stands_wherever_in_the_list_and_the_summarizer_never_sees_it(first: bool) -> None:
    model, writer = Recorder(), Recorder(reply=LOSSY)
    summarizing = SummarizationMiddleware(writer, trigger=("messages", 6), keep=("messages", 2))
    pin = PinMiddleware(rules())
    agent: Any = create_agent(
        model,
        middleware=[pin, summarizing] if first else [summarizing, pin],
        checkpointer=InMemorySaver(),
    )
    for number in range(6):
        say(agent, model, f"Look at ticket {number}.")
    assert writer.calls
    assert POLICY not in writer.ever()
    assert all(model.said(at).count(POLICY) == 1 for at in range(len(model.calls)))
    assert LOSSY in model.said()


def test_an_empty_registry_changes_nothing() -> None:
    pin = PinMiddleware(Registry(OPERATOR))
    assert system_of(pin, None) is None
    for said in (SystemMessage("Be brief."), SystemMessage([{"type": "text", "text": "Hi"}])):
        assert system_of(pin, said) == said


class Replaces(AgentMiddleware[Any, Any, Any]):
    """Has a request answered with another system message, and perhaps another model."""

    def __init__(self, system: SystemMessage | None, model: Recorder | None = None) -> None:
        super().__init__()
        self.given: dict[str, Any] = {"system_message": system} | (
            {"model": model} if model else {}
        )

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(request.override(**self.given))

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        return await handler(request.override(**self.given))


@pytest.mark.parametrize("system", [None, "Be kind.", [{"type": "text", "text": "Be kind."}]])
def test_a_prompt_made_behind_the_pin_does_not_lose_it(system: Any) -> None:
    """As ``[pin, @dynamic_prompt]`` did, with a receipt that said ``injected``."""
    model, receipts = Recorder(), list[Receipt]()
    message = SystemMessage(system) if system else None
    pin = PinMiddleware(rules(), report=receipts.append)
    agent: Any = create_agent(model, system_prompt="Be brief.", middleware=[pin, Replaces(message)])
    agent.invoke(ASK)
    asyncio.run(agent.ainvoke(ASK))
    assert list(agent.stream(ASK, stream_mode="messages"))
    assert [model.said(at).count(POLICY) for at in range(3)] == [1, 1, 1]
    assert [receipt.state for receipt in receipts] == ["repaired"] * 3


def test_a_model_that_replaces_the_agent_s_is_pinned_too() -> None:
    model, other, receipts = Recorder(), Recorder(), list[Receipt]()
    pin = PinMiddleware(rules(), report=receipts.append)
    agent: Any = create_agent(model, middleware=[pin, Replaces(None, other)])
    agent.invoke(ASK)
    assert not model.calls
    assert other.said().count(POLICY) == 1
    assert [receipt.state for receipt in receipts] == ["repaired"]


class Answers(AgentMiddleware[Any, Any, Any]):
    """Asks no model."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return AIMessage("Done.")


def test_where_no_model_was_asked_there_is_no_receipt(caplog: pytest.LogCaptureFixture) -> None:
    receipts: list[Receipt] = []
    pin = PinMiddleware(rules(), report=receipts.append)
    agent: Any = create_agent(Recorder(), middleware=[pin, Answers()])
    # Whatever level an evaluation before this test has set.
    with caplog.at_level("WARNING", logger="constraintrot.pins"):
        agent.invoke(ASK)
    assert receipts == []
    assert "there is no receipt" in caplog.text


def test_two_registries_pin_side_by_side() -> None:
    model, receipts = Recorder(), list[Receipt]()
    first, second = (PinnedBlock(rules(), report=receipts.append) for _ in range(2))
    pins = [PinMiddleware(first), PinMiddleware(second, name="pins of the team")]
    middleware = [*pins, Replaces(SystemMessage("Hi"))]
    agent: Any = create_agent(model, middleware=middleware)
    agent.invoke(ASK)
    assert model.calls[0][0].text == f"Hi\n\n{first.text}\n\n{second.text}"
    assert [receipt.state for receipt in receipts] == ["repaired"] * 2


def test_what_is_asked_of_the_model_is_answered_as_before() -> None:
    """Middleware looks at what kind of model it has, and callbacks at its name."""
    model = Recorder()
    found = pinned_model(model.bind(stop=["x"]), rules())
    assert found.kwargs == {"stop": ["x"]}
    inner: Any = found.bound
    assert isinstance(inner, Recorder)
    assert (inner.lc_id(), repr(inner)) == (model.lc_id(), repr(model))
    found.invoke("Hello")
    model.invoke("Hello")
    assert [POLICY in model.said(at) for at in range(2)] == [True, False]
    with pytest.raises(ParameterError, match="no chat model"):
        pinned_model("gpt-5.5", rules())


@pytest.mark.parametrize(
    "shortens", [{"truncation": "auto"}, {"context_management": [{"type": "compaction"}]}]
)
def test_a_server_that_shortens_requests_has_the_pins_apart_from_the_messages(
    shortens: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It drops items from the beginning, where the system message with the pins was."""
    openai, payloads = recorded(monkeypatch)
    given = {"model": "gpt-5.5", "api_key": "none", "use_responses_api": True}
    for model in (
        openai.ChatOpenAI(**given, **shortens),
        openai.ChatOpenAI(**given).bind(**shortens),
    ):
        with pytest.raises(ConnectionError):
            pinned_model(model, rules()).invoke("Hello")
    assert all(POLICY in sent["instructions"] for sent in payloads)
    assert [POLICY in str(sent["input"]) for sent in payloads] == [False, False]


@pytest.mark.parametrize("kept_by_server", [True, False])
def test_a_server_that_keeps_the_history_is_not_given_the_pins_to_keep(
    kept_by_server: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was sent them with the first request only, and kept them after an amendment."""
    openai, payloads = recorded(monkeypatch)
    registry = rules()
    model = openai.ChatOpenAI(
        model="gpt-5.5",
        api_key="none",
        use_responses_api=True,
        use_previous_response_id=kept_by_server,
    )
    agent: Any = create_agent(
        model, system_prompt="Be brief.", middleware=[PinMiddleware(registry)]
    )
    answered = AIMessage("Done.", response_metadata={"id": "resp_1"})
    for messages in (ASK["messages"], [*ASK["messages"], answered, HumanMessage("Again.")]):
        with pytest.raises(ConnectionError):
            agent.invoke({"messages": messages})
        registry.amend(registry.pins()[0].id, "Send no email at all.", by=OPERATOR)
    inputs = [str(sent["input"]) for sent in payloads]
    if not kept_by_server:
        assert [text.count("email") for text in inputs] == [1, 1]
        return
    assert not any("email" in text for text in inputs)
    assert [POLICY in sent["instructions"] for sent in payloads] == [True, False]
    assert "Send no email at all." in payloads[1]["instructions"]
    assert payloads[1]["previous_response_id"] == "resp_1"


def test_receipts_go_to_whoever_asks() -> None:
    model, receipts, registry = Recorder(), list[Receipt](), rules()
    pin = PinMiddleware(registry, heading="House rules:", report=receipts.append)
    create_agent(model, middleware=[pin]).invoke(ASK)
    assert [receipt.blocks for receipt in receipts] == [(str(registry.pins()[0].id),)]
    assert model.said().startswith("House rules: [")


def test_pins_that_do_not_fit_stop_the_agent() -> None:
    model = Recorder(profile={"max_input_tokens": 60})
    agent: Any = create_agent(model, middleware=[PinMiddleware(rules(POLICY * 10))])
    with pytest.raises(PinOverflowError):
        agent.invoke(ASK)
    assert not model.calls
    # What does not fit without the pins either is not theirs to judge.
    long: Any = {"messages": [HumanMessage("word " * 200)]}
    agent.invoke(long)
    assert model.said().count(POLICY) == 10


def delegated(middleware: list[Any], subagents: Any) -> list[str]:
    """What each call of a deep agent was sent that hands its task to a subagent."""
    from deepagents import create_deep_agent

    to = {"description": "Write the mail.", "subagent_type": "general-purpose"}
    model = Recorder(script=[calling("task", "1", **to)])
    agent: Any = create_deep_agent(model, middleware=middleware, subagents=subagents)
    agent.invoke(ASK)
    assert [sent[-1].type for sent in model.calls] == ["human", "human", "tool"]
    assert model.calls[1][-1].text == "Write the mail."
    return [model.said(at) for at in range(3)]


def test_a_subagent_is_pinned_when_it_is_given_and_only_then() -> None:
    pin = PinMiddleware(rules())
    # The built-in subagent inherits no middleware of yours.
    assert [said.count(POLICY) for said in delegated([pin], None)] == [1, 0, 1]
    assert [said.count(POLICY) for said in delegated([pin], pinned_subagents(pin))] == [1, 1, 1]


class Other(AgentMiddleware[Any, Any, Any]):
    """Any other middleware."""


def test_subagents_of_your_own_are_pinned_too() -> None:
    pin, other = PinMiddleware(rules()), Other()
    mine: Any = {"name": "mailer", "description": "Writes mails.", "middleware": [other]}
    general, mailer = pinned_subagents(pin, [mine], inherited=[other])
    assert general["name"] == "general-purpose"
    assert general.get("middleware") == [other, pin]
    assert mailer == {**mine, "middleware": [other, pin]}
    assert mine["middleware"] == [other]
    replaced = pinned_subagents(pin, [{**mine, "name": "general-purpose"}])
    assert [subagent["name"] for subagent in replaced] == ["general-purpose"]


@pytest.mark.parametrize("kind", ["runnable", "graph_id"])
def test_a_subagent_that_takes_no_middleware_is_refused(kind: str) -> None:
    with pytest.raises(ParameterError, match="mailer is compiled or remote"):
        pinned_subagents(PinMiddleware(rules()), [{"name": "mailer", kind: "x"}])


def test_a_context_pipeline_masks_what_the_model_sees_and_not_what_tools_do() -> None:
    shown: list[Any] = []

    class Model(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **_: Any) -> Any:
            return self

        def _generate(self, messages: Any, *args: Any, **given: Any) -> Any:
            shown.append(messages)
            return super()._generate(messages, *args, **given)

    @tool
    def write(address: str) -> str:
        """Write to somebody."""
        return f"wrote to {address}"

    made = {"name": "write", "args": {"address": "masked-1@example.org"}, "id": "1"}
    said = [AIMessage("", tool_calls=[made]), AIMessage("To masked-1@example.org.")]
    middleware = PipelineMiddleware(Pipeline([Masking()], pins=rules()))
    agent: Any = create_agent(
        Model(messages=iter(said)),
        tools=[write],
        system_prompt="Be brief.",
        middleware=[middleware],
    )
    state = agent.invoke({"messages": [("user", "Write to ana@example.org.")]})
    told = [message.text for message in state["messages"]]
    assert told[1:] == ["", "wrote to ana@example.org", "To ana@example.org."]
    assert len(shown) == 2
    for messages in shown:
        text = "\n".join(message.text for message in messages)
        assert text.count(POLICY) == 1
        assert "ana@" not in text
    with pytest.raises(ParameterError, match="meta_tools"):
        PipelineMiddleware(Pipeline([MetaTools()]))


def test_the_module_s_example_holds() -> None:
    found = doctest.testmod(import_module("constraintrot.memory.pipeline.langchain"))
    assert found.attempted
    assert not found.failed


def test_a_pipeline_whose_summaries_nobody_writes_is_refused_when_it_is_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("INSPECT_EVAL_MODEL", raising=False)
    # An evaluation that ran before in this process has left its model in the context.
    with pytest.raises(ParameterError, match=r"give profiles\.layers\(write=\.\.\.\)"):
        Context().run(PipelineMiddleware, Pipeline(layers()))

    async def write(messages: Any) -> str:
        return "OBJECTIVE: none"

    PipelineMiddleware(Pipeline(layers(write=write)))


def test_conversations_without_a_thread_share_no_mask_and_images_no_answer() -> None:
    said = (AIMessage(f"I see masked-1@example.org: {at}.") for at in range(9))
    middleware = PipelineMiddleware(Pipeline([ExactCache(), Masking()]))
    agent: Any = create_agent(
        GenericFakeChatModel(messages=said), system_prompt="Be brief.", middleware=[middleware]
    )

    def ask(content: Any) -> str:
        text: str = agent.invoke({"messages": [HumanMessage(content)]})["messages"][-1].text
        return text

    def shown(image: str) -> list[dict[str, Any]]:
        url = {"url": f"data:image/png;base64,{image}"}
        return [{"type": "text", "text": "This?"}, {"type": "image_url", "image_url": url}]

    assert ask("I am ana@example.org.") == "I see ana@example.org: 0."
    assert ask(shown("AAAA")) == "I see masked-1@example.org: 1."
    assert ask(shown("AAAA")) == "I see masked-1@example.org: 1."
    assert ask(shown("BBBB")) == "I see masked-1@example.org: 2."


class Counting(BaseChatModel):
    """Answers with its temperature and the number of the call, kept in two kinds of attributes."""

    temperature: float = 0.0
    field: int = 0
    _private: int = PrivateAttr(default=0)

    @property
    def _llm_type(self) -> str:
        return "counting"

    def _generate(self, messages: list[BaseMessage], *args: Any, **given: Any) -> ChatResult:
        self.field += 1
        self._private += 1
        said = f"{self.temperature} {self.field} {self._private}"
        return ChatResult(generations=[ChatGeneration(message=AIMessage(said))])


@pytest.mark.parametrize("pinned_too", [False, True])
@pytest.mark.parametrize("registries", [1, 2])
def test_a_model_keeps_its_state_and_is_changed_between_requests(
    pinned_too: bool, registries: int
) -> None:
    """Each request had a fresh copy, so a model that counts answered the same for ever."""
    model = pinned_model(Counting(), rules()) if pinned_too else Counting()
    pins = [PinMiddleware(rules(), name=f"pins {at}") for at in range(registries)]
    agent: Any = create_agent(model, middleware=pins)
    said: list[str] = []
    for temperature in (0.0, 0.5, 1.0):
        model.temperature = temperature
        said.append(agent.invoke(ASK)["messages"][-1].text)
    assert said == ["0.0 1 1", "0.5 2 2", "1.0 3 3"]
    assert (model.field, model._private) == (3, 3)
    assert model.invoke("Hello").text == "1.0 4 4"


def test_the_fake_models_of_langchain_answer_in_turn() -> None:
    model = FakeListChatModel(responses=["one", "two", "three"])
    agent: Any = create_agent(model, middleware=[PinMiddleware(rules())])
    assert [agent.invoke(ASK)["messages"][-1].text for _ in range(4)] == [
        "one",
        "two",
        "three",
        "one",
    ]


@pytest.mark.filterwarnings("ignore:.*`loads` is in beta")
@pytest.mark.parametrize("how", ["alone", "bound", "chain", "made anew"])
def test_a_pinned_model_that_was_written_is_not_read_back_without_its_pins(how: str) -> None:
    """It was written as the plain model's class, and what was read sent no pins."""
    from langchain_core.load import dumps, loads

    openai = pytest.importorskip("langchain_openai")
    model = openai.ChatOpenAI(model="gpt-5.5", api_key="none")
    found: Any = pinned_model(model.bind(stop=["x"]) if how == "bound" else model, rules())
    if how == "made anew":
        found = type(found)(model="gpt-5.5", api_key="none")
    written = dumps(found | (lambda answer: answer) if how == "chain" else found)
    with pytest.raises(NotImplementedError):
        loads(written, secrets_map={"OPENAI_API_KEY": "none"}, allowed_objects="all")


def test_what_a_trace_and_a_cache_know_of_a_pinned_model_is_as_before() -> None:
    openai = pytest.importorskip("langchain_openai")
    keys = set[str]()
    for name in ("gpt-5.5", "gpt-5.5-mini"):
        model = openai.ChatOpenAI(model=name, api_key="none", base_url="http://127.0.0.1:1/v1")
        found = pinned_model(model, rules())
        again = type(found)(model=name, api_key="none", base_url="http://127.0.0.1:1/v1")
        for one in (found, again):
            assert one._serialized == model._serialized
            keys.add(one._get_llm_string())
    assert len(keys) == 2


@pytest.mark.parametrize(
    ("of_model", "given"),
    [
        ({"extra_body": {"messages": []}}, {}),
        ({"model_kwargs": {"system": "x"}}, {}),
        ({}, {"extra_body": {"input": []}}),
        ({}, {"system": "x"}),
    ],
)
def test_arguments_that_would_replace_the_pins_are_refused(
    of_model: dict[str, Any], given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    openai, payloads = recorded(monkeypatch)
    model = openai.ChatOpenAI(model="gpt-5.5", api_key="none", **of_model)
    with pytest.raises(ParameterError, match="would replace what is pinned"):
        pinned_model(model, rules()).invoke("Hello", **given)
    assert payloads == []
    with pytest.raises(ConnectionError):
        pinned_model(model, registry()).invoke("Hello", **given)


def test_instructions_beside_the_messages_are_no_replacement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    openai, payloads = recorded(monkeypatch)
    model = openai.ChatOpenAI(model="gpt-5.5", api_key="none", use_responses_api=True)
    with pytest.raises(ConnectionError):
        pinned_model(model, rules()).invoke("Hello", instructions="Be brief.")
    assert str(payloads[0]["input"]).count(POLICY) == 1
