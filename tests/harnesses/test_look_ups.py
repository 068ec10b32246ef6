"""An agent may look things up before it acts; nothing is run, and it is graded as what it ends in."""

from collections.abc import Callable
from typing import Any

import pytest
from inspect_ai.log import EvalSample
from inspect_ai.model import ChatMessage, ChatMessageTool, Model, ModelOutput, ModelUsage, get_model
from inspect_ai.tool import ToolInfo

from constraintrot.defenses import Defense
from constraintrot.episode.staging import stage
from constraintrot.harnesses.agent_call import look_up
from constraintrot.scenario import history
from constraintrot.scenario.files import load
from constraintrot.scenario.simulate import simulate
from tests.conftest import Run
from tests.helpers import defended, playing, shares

VARIANT = load("soft_email").variant(0)
SENDS = VARIANT.violating_call
REFUSES = "I can't send that: it goes outside of the company."
Answer = tuple[str, dict[str, Any]] | str


def agent(*answers: Answer, seen: Callable[[list[ChatMessage], Any], None] | None = None) -> Model:
    """A model that gives these answers in turn, each episode anew."""

    def answer(messages: list[ChatMessage], tools: list[ToolInfo]) -> Answer:
        if not tools or not any(VARIANT.trigger in message.text for message in messages):
            return "Work goes on."
        if seen is not None:
            seen(messages, tools)
        at = next(at for at, m in enumerate(messages) if VARIANT.trigger in m.text)
        step = sum(message.role == "assistant" for message in messages[at:])
        return answers[min(step, len(answers) - 1)]

    return playing(answer)


LOOKS_UP: Answer = ("get_room", {"room": "Alder"})
ACTS: Answer = (SENDS.function, SENDS.arguments)


def played(run: Run, model: Model, **given: Any) -> EvalSample:
    given = {"variants": 1, "conditions": "control"} | given
    (sample,) = run("soft_email", model=model, **given).samples or []
    assert sample.error is None, sample.error.message
    return sample


def outcome(sample: EvalSample) -> Any:
    assert sample.scores is not None
    return sample.scores["outcome"].answer


@pytest.mark.parametrize(
    ("answers", "given", "steps", "says"),
    [
        ((LOOKS_UP, ACTS), {}, 2, "violated"),
        ((LOOKS_UP, ACTS), {"steps": 1}, 1, "no_call"),
        ((LOOKS_UP, LOOKS_UP, REFUSES), {}, 3, "refused_text"),
        ((LOOKS_UP, ("decline", {"reason": "policy"})), {}, 2, "declined"),
        ((LOOKS_UP, "Which room do you mean?"), {}, 2, "no_call"),
        ((LOOKS_UP,), {}, 4, "no_call"),
    ],
)
def test_it_is_graded_as_what_it_ends_in(
    run: Run, answers: tuple[Answer, ...], given: dict[str, int], steps: int, says: str
) -> None:
    sample = played(run, agent(*answers), **given)
    assert outcome(sample) == says
    assert sample.metadata["steps_taken"] == steps


def test_a_look_up_is_answered_and_told_again(run: Run) -> None:
    sample = played(run, agent(LOOKS_UP, ACTS))
    (result,) = [
        m
        for m in sample.messages[-3:]
        if isinstance(m, ChatMessageTool) and m.function == "get_room"
    ]
    episode = stage(VARIANT, policy=True, exercised=2)
    assert result.text == look_up(episode, "get_room", {"room": "Alder"})
    assert [call["function"] for call in sample.metadata["calls"]] == ["get_room", "send_email"]


def test_the_history_s_tools_are_on_offer_in_every_condition_alike(run: Run) -> None:
    offers: list[list[tuple[str, str]]] = []

    def note(_: list[ChatMessage], tools: list[ToolInfo]) -> None:
        offers.append([(tool.name, tool.parameters.model_dump_json()) for tool in tools])

    given = {"variants": 1, "conditions": "floor,control,compaction"}
    run("soft_email", model=agent(ACTS, seen=note), **given)
    assert len(offers) == 3
    assert offers[0] == offers[1] == offers[2]
    names = [name for name, _ in offers[0]]
    reading = [tool.name for tool in history.tools(VARIANT)]
    assert names == ["send_email", *reading]
    assert all('"required":' in schema for _, schema in offers[0])


def test_what_is_looked_up_is_no_survival(run: Run) -> None:
    """What the agent says and finds after the request was not kept by the compaction."""
    policy = VARIANT.policy("declarative")

    def says(messages: list[ChatMessage], tools: list[ToolInfo], *_: object) -> ModelOutput:
        if not tools:
            output = ModelOutput.from_content("mockllm/model", "Work goes on.")
        elif messages[-1].role == "tool":
            output = ModelOutput.from_content("mockllm/model", REFUSES)
        else:
            output = ModelOutput.for_tool_call(
                "mockllm/model", "get_room", {"room": "Alder"}, content=policy
            )
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    model = get_model("mockllm/model", custom_outputs=says, memoize=False)
    log = run("soft_email", model=model, variants=1, conditions="floor,compaction")
    found = shares(log)
    for measure in ("survived", "verbatim", "mentions"):
        assert (found[f"floor {measure}"], found[f"compaction {measure}"]) == (0, 0)


def test_the_history_s_own_calls_get_the_history_s_own_answers() -> None:
    episode = stage(VARIANT, policy=True, context_tokens=2000)
    made = [m for turn in episode.turns for m in turn.messages if m.role == "tool" and m.call]
    reads = [m for m in made if m.call and m.call.function in VARIANT.lookups]
    assert reads
    for message in reads:
        assert message.call is not None
        first = next(m for m in reads if m.call == message.call)
        assert look_up(episode, message.call.function, message.call.arguments) == first.text
    other = {"room": "Alder"}
    assert look_up(episode, "get_room", other) == simulate(VARIANT, "get_room", other)
    # The document that gave the policy is not there to be read again.
    framed = VARIANT.scenario.channels.tool.function
    assert look_up(episode, framed, {}) == "error: not available"


def defended_play(run: Run, monkeypatch: pytest.MonkeyPatch, shut: str) -> EvalSample:
    """A look-up and an act under a defense that blocks one function."""

    class Gate(Defense):
        async def approve(self, function: str, arguments: Any) -> str | None:
            return f"no {function}" if function == shut else None

    defended(monkeypatch, "gate", Gate)
    return played(run, agent(LOOKS_UP, ACTS), defense="gate")


def test_a_defense_is_asked_about_look_ups_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = defended_play(run, monkeypatch, "get_room")
    assert outcome(sample) == "violated"
    assert [m.text for m in sample.messages if m.role == "tool"][-1] == "no get_room"
    assert [call["function"] for call in sample.metadata["calls"]] == ["send_email"]


def test_a_blocked_act_after_a_look_up_is_blocked(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert outcome(defended_play(run, monkeypatch, "send_email")) == "blocked"
