"""LangChain's create_agent: its context managers, and a pinned model behind copies and caches."""

import asyncio
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelFallbackMiddleware
from langchain_core.caches import InMemoryCache
from langchain_core.messages import SystemMessage
from langchain_core.runnables import ConfigurableField, RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import create_react_agent
from langgraph.prebuilt.chat_agent_executor import AgentState

from constraintrot.defenses.pinning.pinned_block import HEADING, PinnedBlock, Receipt
from constraintrot.defenses.rampart import Principal, Registry
from constraintrot.errors import ParameterError
from constraintrot.harnesses.langchain.pins import PinMiddleware
from constraintrot.harnesses.langchain_family.pinned_model import pinned_model
from constraintrot.harnesses.langgraph.pins import pin_node
from tests.conftest import Run
from tests.harnesses.episodes import compacted
from tests.harnesses.langchain_fakes import (
    ASK,
    POLICY,
    Recorder,
    loop,
    rules,
    summarizing,
    tools,
    turns,
)
from tests.harnesses.openai_payloads import recorded
from tests.harnesses.rules import LOSSY, OPERATOR, PINNED, kept, registry


def test_the_default_trimming_hides_a_long_history_from_the_summarizer(run: Run) -> None:
    given = {"context_tokens": 4500}
    trimmed = compacted(run, harness="langchain", **given).metadata["rounds_run"]
    whole = compacted(run, harness="langchain:no_trim", **given).metadata["rounds_run"]
    assert [one["shown_verbatim"] for one in trimmed] == [False]
    assert [one["shown_verbatim"] for one in whole] == [True]


Shown = tuple[Callable[[Any, Recorder], None], dict[str, Any], set[str], bool]
WHOLE: dict[str, Any] = {"trim_tokens_to_summarize": None}
# Which rules a summarizer was shown, when 8000 tokens of conversation are summarised, and
# whether it was asked at all.
SHOWN: dict[str, Shown] = {
    "turns, default trimming": (turns, {}, set(), True),
    "turns, no trimming": (turns, WHOLE, {"first user", "later user", "tool"}, True),
    # The trimming begins at a request. After one request and a loop of tools there is none
    # in the last 4000 tokens, so nothing is left, and no summarizer is asked.
    "loop, default trimming": (loop, {}, set(), False),
    "loop, no trimming": (loop, WHOLE, {"first user", "tool"}, True),
}


@pytest.mark.parametrize("row", SHOWN)
def test_what_the_summarizer_is_shown(row: str) -> None:
    play, given, shown, asked = SHOWN[row]
    model, writer = Recorder(), Recorder(reply=LOSSY)
    manager = summarizing(writer, trigger=("tokens", 8000), keep=("messages", 4), **given)
    agent = create_agent(
        model,
        tools=tools(100),
        middleware=[manager, PinMiddleware(registry(PINNED))],
        checkpointer=InMemorySaver(),
    )
    play(agent, model)
    assert bool(writer.calls) is asked
    assert kept(writer.ever()) == shown
    assert ("Previous conversation was too long to summarize." in model.said()) is not asked
    assert model.said().count(PinnedBlock(Registry(Principal("operator"))).heading) == 1


def keeping(calls: list[Any]) -> type[Recorder]:
    """A class of models that keep in one place what any of them was sent."""

    class Keeps(Recorder):
        def _next(self, messages: Any) -> Any:
            calls.append(messages)
            return super()._next(messages)

    return Keeps


class Edits(AgentMiddleware[Any, Any, Any]):
    """Does something to each request, behind the pins."""

    def __init__(self, edit: Callable[[Any], Any]) -> None:
        super().__init__()
        self.edit = edit

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return handler(self.edit(request) or request)


def asked(edit: Callable[[Any], Any], model: Any = None) -> list[Receipt]:
    """The receipts of an agent whose requests are edited behind the pins."""
    receipts: list[Receipt] = []
    pin = PinMiddleware(rules(), report=receipts.append)
    agent: Any = create_agent(
        model or Recorder(), system_prompt="Be brief.", middleware=[pin, Edits(edit)]
    )
    agent.invoke(ASK)
    return receipts


def test_a_model_made_anew_by_its_class_is_pinned_too() -> None:
    """``configurable_fields`` does so at each call; the pins were gone from all of them."""
    calls: list[Any] = []
    first, second = rules(), rules("Send no email at all.")
    model = pinned_model(pinned_model(keeping(calls)(), first), second)
    talking = model.configurable_fields(reply=ConfigurableField(id="reply"))
    configured = talking.with_config(configurable={"reply": "Hi."})
    assert configured.invoke("Hello").text == "Hi."
    assert asyncio.run(configured.ainvoke("Hello")).text == "Hi."
    assert list(talking.stream("Hello"))
    for sent in calls:
        assert sent[0].text.count(POLICY) == sent[0].text.count("Send no email") == 1
    assert len(calls) == 3


def test_a_copy_that_lost_a_request_s_pins_sends_nothing() -> None:
    sent: list[Any] = []

    class Rebuilds(Recorder):
        def _next(self, messages: Any) -> Any:
            sent.append(messages)
            return super()._next(messages)

        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            return self.__class__()

    def look() -> str:
        """Look."""
        return ""

    agent: Any = create_agent(Rebuilds(), tools=[look], middleware=[PinMiddleware(rules())])
    with pytest.raises(ParameterError, match="lost its pins"):
        agent.invoke(ASK)
    assert not sent


def test_an_answer_without_the_pins_is_not_served_from_a_cache() -> None:
    """The key was made before the pins were put in: it was the bare model's, in any revision."""
    calls: list[Any] = []
    bare = keeping(calls)(cache=InMemoryCache())
    registry = rules()
    model = pinned_model(bare, registry)
    bare.invoke("Hello")
    for expected in (2, 2):
        model.invoke("Hello")
        assert len(calls) == expected
    registry.amend(registry.pins()[0].id, "Send no email at all.", by=OPERATOR)
    asyncio.run(model.ainvoke("Hello"))
    assert len(calls) == 3
    assert "Send no email at all." in calls[-1][0].text


def test_a_model_put_into_a_request_by_assignment_is_pinned() -> None:
    other = Recorder()

    def edit(request: Any) -> None:
        request.model = other
        request.system_prompt = "Be kind."

    receipts = asked(edit)
    assert other.said().count(POLICY) == 1
    assert [receipt.state for receipt in receipts] == ["repaired"]


def test_a_fallback_has_the_pins_of_every_registry() -> None:
    """It had those of the last, and the first one's receipt was of the call that failed."""

    class Fails(Recorder):
        def _next(self, messages: Any) -> Any:
            raise ConnectionError

    other, receipts = Recorder(), list[Receipt]()
    first = PinMiddleware(rules(), report=receipts.append)
    second = PinMiddleware(rules("Send no email at all."), name="team", report=receipts.append)
    kind = Edits(lambda request: request.override(system_message=SystemMessage("Be kind.")))
    middleware = [first, second, ModelFallbackMiddleware(other), kind]
    agent: Any = create_agent(Fails(), middleware=middleware)
    agent.invoke(ASK)
    assert [other.said().count(text) for text in (POLICY, "Send no email")] == [1, 1]
    assert [receipt.state for receipt in receipts] == ["repaired"] * 4


@pytest.mark.parametrize("glued", ["{} Today is Monday.", "Now: {}", "{}~~~", "<p>{}</p>"])
def test_words_right_beside_the_block_do_not_double_it(glued: str) -> None:
    """A block had to be on lines of its own to be recognised: a second one came behind it."""
    model = Recorder()

    def edit(request: Any) -> Any:
        text = glued.format(request.system_message.text)
        return request.override(system_message=SystemMessage(text))

    asked(edit, model)
    assert model.said().count(POLICY) == model.said().count(HEADING) == 1
    before = glued.format("Be brief.")
    assert model.calls[0][0].text.startswith(f"{before}\n\n{HEADING}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("pinned", [False, True], ids=["node", "model"])
def test_a_structured_answer_past_the_hook_has_the_model_s_pins(pinned: bool) -> None:
    """LangGraph asks for it with the history, which a node before the model does not change."""

    class Answers(Recorder):
        def with_structured_output(self, schema: Any, **kwargs: Any) -> Any:
            return self | RunnableLambda(lambda message: {"text": message.text})

    class State(AgentState):
        structured_response: Any
        llm_input_messages: list[Any]

    model, registry = Answers(), rules()
    whole: Any = RunnableLambda(lambda state: {"llm_input_messages": state["messages"]})
    shape: Any = dict[str, str]
    agent: Any = create_react_agent(
        pinned_model(model, registry) if pinned else model,
        [],
        pre_model_hook=whole
        if pinned
        else pin_node(registry, key="llm_input_messages", after=whole),
        state_schema=State,
        response_format=shape,
    )
    agent.invoke(ASK)
    assert [model.said(at).count(POLICY) for at in range(2)] == [1, int(pinned)]


@pytest.mark.parametrize("key", ["previous_response_id", "conversation"])
def test_no_server_is_given_the_pins_to_keep_however_it_is_told_of_the_history(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    openai, payloads = recorded(monkeypatch)
    given: dict[str, Any] = {"model": "gpt-5.5", "api_key": "none", "use_responses_api": True}
    bound = openai.ChatOpenAI(**given).bind(**{key: "conv_1"})
    kept = openai.ChatOpenAI(**given, model_kwargs={key: "conv_1"})
    for model in (bound, kept):
        with pytest.raises(ConnectionError):
            pinned_model(model, rules()).invoke("Hello")
    for sent in payloads:
        assert POLICY not in str(sent["input"])
        assert POLICY in sent["instructions"]
        assert sent[key] == "conv_1"
