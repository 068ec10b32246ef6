"""The answers that the middleware of LangChain keeps, for whom, and gives back."""

from collections.abc import Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from pydantic import BaseModel, create_model

from constraintrot.memory.pipeline import Pipeline
from constraintrot.memory.pipeline.cache import ExactCache, SemanticCache
from constraintrot.memory.pipeline.langchain import PipelineMiddleware
from constraintrot.memory.pipeline.masking import Masking
from constraintrot.memory.pipeline.tools import ToolPruning
from tests.harnesses.langchain_fakes import Recorder, calling

CACHES = [ExactCache, SemanticCache]


class Named(Recorder):
    """A model that tells its name and settings, as providers' models do."""

    called: str = "one"
    temperature: float = 0.0

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model": self.called, "temperature": self.temperature}


class Asks(AgentMiddleware[Any, Any, Any]):
    """A middleware that changes the settings of every request."""

    def __init__(self, **given: Any) -> None:
        super().__init__()
        self.given = given

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(request.override(**self.given))


def asked(
    pipeline: Pipeline,
    says: AIMessage | str,
    content: str | Sequence[AnyMessage] = "Hi.",
    *,
    model: Recorder | None = None,
    **given: Any,
) -> AIMessage:
    model = model or Named()
    model.script[:] = [says if isinstance(says, AIMessage) else AIMessage(says)]
    agent: Any = create_agent(model, middleware=[Asks(**given), PipelineMiddleware(pipeline)])
    messages = [HumanMessage(content)] if isinstance(content, str) else list(content)
    reply: AIMessage = agent.invoke({"messages": messages})["messages"][-1]
    return reply


@pytest.mark.parametrize("cache", CACHES)
@pytest.mark.parametrize(
    "told",
    [
        {"finish_reason": "length"},
        {"finish_reason": "content_filter"},
        {"stop_reason": "max_tokens"},
        {"stop_reason": "refusal"},
        {"stop_reason": "pause_turn"},
        {"finish_reason": "MAX_TOKENS"},
        {"finish_reason": "SAFETY"},
        {"stopReason": "max_tokens"},
        {"stopReason": "guardrail_intervened"},
        {"done_reason": "length"},
        {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
        {"status": "in_progress"},
    ],
)
def test_an_answer_that_was_cut_off_is_not_kept(cache: Any, told: dict[str, Any]) -> None:
    for where in ("response_metadata", "additional_kwargs"):
        pipeline = Pipeline([cache()])
        given: dict[str, Any] = {where: told}
        assert asked(pipeline, AIMessage("Send it to", **given)).text == "Send it to"
        assert asked(pipeline, "Send it to Ana.").text == "Send it to Ana."


ENDED: list[dict[str, Any]] = [
    {},
    {"finish_reason": "stop"},
    {"finish_reason": "STOP"},
    {"stop_reason": "end_turn"},
    {"stop_reason": "stop_sequence"},
    {"stopReason": "end_turn"},
    {"done_reason": "stop"},
    {"finish_reason": None, "status": "completed", "incomplete_details": None},
]
LOSSY = [
    AIMessage(""),
    AIMessage([{"type": "text", "text": "See:"}, {"type": "image", "base64": "AAAA"}]),
    AIMessage(
        "Calling", invalid_tool_calls=[{"name": "send", "args": "{", "id": "1", "error": None}]
    ),
]


@pytest.mark.parametrize(
    ("said", "then"),
    [
        *((AIMessage("First.", response_metadata=told), "First.") for told in ENDED),
        *((lossy, "Second.") for lossy in LOSSY),
    ],
)
def test_an_answer_that_came_to_its_end_and_is_replayed_whole_is_kept(
    said: AIMessage, then: str
) -> None:
    pipeline = Pipeline([ExactCache()])
    asked(pipeline, said)
    assert asked(pipeline, "Second.").text == then


@pytest.mark.parametrize("cache", CACHES)
@pytest.mark.parametrize(
    "given",
    [
        {"tool_choice": "none"},
        {"model_settings": {"temperature": 1.0}},
        {"model_settings": {"stop": ["\n"]}},
        {"model": Named(called="other")},
        {"model": Named(temperature=1.0)},
        {"model": Named().bind(max_tokens=3)},
    ],
)
def test_a_request_that_is_answered_in_another_way_is_another(
    cache: Any, given: dict[str, Any]
) -> None:
    pipeline = Pipeline([cache()])
    asked(pipeline, "First.")
    assert asked(pipeline, "Second.").text == "First."
    model = given.pop("model", None)
    if model is not None:
        bound = getattr(model, "bound", model)
        bound.script[:] = [AIMessage("Second.")]
        given["model"] = model
    assert asked(pipeline, "Second.", **given).text == "Second."


def test_settings_that_no_text_tells_apart_are_not_answered_by_a_cache() -> None:
    pipeline = Pipeline([ExactCache()])
    for kind in (int, str):
        schema = create_model("Answer", value=(kind, ...))
        said = asked(pipeline, kind.__name__, model_settings={"response_format": schema})
        assert said.text == kind.__name__


def test_a_model_that_does_not_say_what_it_is_is_known_by_what_it_holds() -> None:
    pipeline = Pipeline([ExactCache()])
    asked(pipeline, "First.", model=Recorder(reply="polite"))
    assert asked(pipeline, "Second.", model=Recorder(reply="rude")).text == "Second."


class Mail(BaseModel):
    """A mail to be sent."""

    to: str
    copies: list[str] = []


def test_a_structured_answer_is_never_lost_to_a_cache() -> None:
    pipeline = Pipeline([ExactCache(), SemanticCache()])
    for name in ("ana", "ben"):
        model = Named(script=[calling("Mail", "1", to=name)])
        agent: Any = create_agent(
            model, response_format=ToolStrategy(Mail), middleware=[PipelineMiddleware(pipeline)]
        )
        state = agent.invoke({"messages": [HumanMessage("Write a mail.")]})
        assert state["structured_response"] == Mail(to=name)
        assert len(model.calls) == 1


@pytest.mark.parametrize("schema", [Mail, Mail.model_json_schema()])
def test_a_structured_answer_holds_the_values_and_not_their_placeholders(schema: Any) -> None:
    masked = {"to": "masked-1@example.org", "copies": ["masked-2@example.org"]}
    model = Named(script=[calling("Mail", "1", **masked)])
    agent: Any = create_agent(
        model,
        response_format=ToolStrategy(schema),
        middleware=[PipelineMiddleware(Pipeline([Masking()]))],
    )
    request = HumanMessage("Write to ana@example.org, and to ben@example.org.")
    state = agent.invoke({"messages": [request]})
    found = state["structured_response"]
    told = found.model_dump() if isinstance(found, Mail) else found
    assert told == {"to": "ana@example.org", "copies": ["ben@example.org"]}
    assert "masked-" not in "".join(message.text for message in state["messages"])


def shot(image: str) -> list[str | dict[Any, Any]]:
    return [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{image}"}}]


@pytest.mark.parametrize(
    "before",
    [
        lambda image: [calling("shoot", "1"), ToolMessage(shot(image), tool_call_id="1")],
        lambda image: [AIMessage(shot(image))],
        lambda image: [HumanMessage("Hi.", name=image)],
    ],
)
@pytest.mark.parametrize("cache", CACHES)
def test_what_a_tool_or_the_agent_showed_and_who_speaks_is_told_apart(
    cache: Any, before: Any
) -> None:
    pipeline = Pipeline([cache()])

    def ask(image: str, says: str) -> str:
        talk = [HumanMessage("Look."), *before(image), AIMessage("Ok."), HumanMessage("And?")]
        return asked(pipeline, says, talk).text

    assert ask("AAAA", "A cat.") == "A cat."
    assert ask("AAAA", "A dog.") == "A cat."
    assert ask("BBBB", "A dog.") == "A dog."


@pytest.mark.parametrize("kind", ["tool_use", "function_call"])
def test_a_call_is_not_sent_unmasked_beside_its_masked_form(kind: str) -> None:
    made = {"type": kind, "id": "1", "call_id": "1", "name": "send"}
    block = {**made, "input": {"to": "ana@example.org"}, "arguments": '{"to": "ana@example.org"}'}
    call = {"name": "send", "args": {"to": "ana@example.org"}, "id": "1"}
    said = AIMessage([{"type": "text", "text": "Sending."}, block], tool_calls=[call])
    model = Named()
    sent = ToolMessage("Sent.", tool_call_id="1")
    talk: list[AnyMessage] = [HumanMessage("Go."), said, sent, HumanMessage("?")]
    asked(Pipeline([Masking()]), "Done.", talk, model=model)
    assert "ana@" not in str(model.calls[0][1])
    received = model.calls[0][1]
    assert isinstance(received, AIMessage)
    assert "masked-1@example.org" in str(received.tool_calls)


def offered(pipeline: Pipeline, tools: list[dict[str, Any]], **given: Any) -> list[Any]:
    found: list[Any] = []

    class Sees(AgentMiddleware[Any, Any, Any]):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            found.extend(request.tools)
            return handler(request.override(tools=[], tool_choice=None))

    layers = [Asks(tools=tools, **given), PipelineMiddleware(pipeline), Sees()]
    agent: Any = create_agent(Named(script=[AIMessage("Done.")]), middleware=layers)
    agent.invoke({"messages": [HumanMessage("Hi.")]})
    return found


NATIVE: list[dict[str, Any]] = [
    {"type": "web_search"},
    {"type": "web_search_20250305", "name": "web_search", "max_uses": 3},
    {"type": "mcp", "server_label": "mail"},
    {"google_search": {}},
    {"type": "function", "name": "lookup", "parameters": {"type": "object"}},
]


@pytest.mark.parametrize("tool", NATIVE)
def test_a_tool_that_the_provider_runs_goes_through(tool: dict[str, Any]) -> None:
    pipeline = Pipeline([ExactCache(), ToolPruning()])
    for given in (tool, tool | {"timeout": 5}):
        assert offered(pipeline, [given]) == [given]


@pytest.mark.parametrize(
    "choice",
    [
        "report_19",
        {"type": "function", "function": {"name": "report_19"}},
        {"type": "tool", "name": "report_19"},
    ],
)
def test_a_tool_that_must_be_called_is_not_pruned(choice: Any) -> None:
    tools = [{"name": f"report_{at:02}", "description": "x", "parameters": {}} for at in range(20)]
    found = offered(Pipeline([ToolPruning()]), tools, tool_choice=choice)
    assert len(found) == 12
    assert tools[19] in found
