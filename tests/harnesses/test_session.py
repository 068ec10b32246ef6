"""What a session refuses, and what it records: played by frameworks in small."""

from collections.abc import Callable
from itertools import groupby
from typing import Any

import pytest
from inspect_ai.event import ModelEvent
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    Model,
    ModelOutput,
    get_model,
)
from inspect_ai.tool import ToolInfo

from constraintrot.episode.episode import Episode
from constraintrot.evaluation.harness import MAX_STEPS
from constraintrot.evaluation.play_settings import PlaySettings
from constraintrot.harnesses import FRAMEWORK_HOOKS, HARNESSES, Harness, HarnessSpec, Played
from constraintrot.harnesses.message_match import missing, spoken
from constraintrot.harnesses.session import DONE, Session
from constraintrot.scenario import history
from constraintrot.scenario.files import load
from constraintrot.scenario.simulate import simulate
from tests.conftest import Run
from tests.harnesses.episodes import failing
from tests.harnesses.live_agent import live_agent, model_events
from tests.harnesses.messages import result, said, system, user
from tests.helpers import answering, playing, register, samples


class Toy:
    """A framework in small: it keeps the last messages behind a summary, as others do."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.state: list[ChatMessage] = []
        self.due = sum(1 + len(e.replies) + len(e.results) for e in session.script) + 1

    async def say(self, text: str) -> None:
        self.state.append(user(text))
        while True:
            reply = await self.session.answer(await self.context(), self.tools())
            self.state.append(reply)
            if not reply.tool_calls:
                return
            for call in reply.tool_calls:
                text = self.result(call.function, call.arguments)
                self.state.append(result(text, call.id, call.function))

    def result(self, name: str, arguments: dict[str, Any]) -> str:
        return self.session.tool(name, arguments)

    def tools(self) -> list[ToolInfo]:
        return self.session.tools

    async def context(self) -> list[ChatMessage]:
        if self.session.compacts and len(self.state) >= self.due:
            await self.compact()
        return [system(self.instructions()), *self.state]

    def instructions(self) -> str:
        pins = self.session.pins
        return pins.into(self.session.system) if pins is not None else self.session.system

    async def compact(self) -> None:
        # A live agent's turn may be longer than what is to be kept.
        at = max(
            at for at, m in enumerate(self.state[:-3]) if m.role == "user" and m.text[0] != "*"
        )
        summary = await self.summary(self.state[:at])
        self.state[:at] = [user(f"* So far: {summary}"), said("I see.")]

    async def summary(self, messages: list[ChatMessage]) -> str:
        return await self.session.summarize([*messages, user("Sum it up.")])


class Refusing(Toy):
    """Refuses the history's first call, as Inspect does by a tool's schema."""

    refused = False

    def result(self, name: str, arguments: dict[str, Any]) -> str:
        refused, self.refused = self.refused, True
        return super().result(name, arguments) if refused else ""


class Whole(Toy):
    async def compact(self) -> None:
        """Nothing."""


class Garbling(Whole):
    """Shortens a result before its agent's model was ever shown it, and compacts nothing."""

    def result(self, name: str, arguments: dict[str, Any]) -> str:
        return super().result(name, arguments)[:5]


class Evicting(Toy):
    async def compact(self) -> None:
        del self.state[:-5]


class Forgetful(Toy):
    async def context(self) -> list[ChatMessage]:
        return [system(self.instructions()), *self.state[-5:]]


class Headless(Toy):
    async def context(self) -> list[ChatMessage]:
        return self.state


class Swallowing(Toy):
    async def summary(self, messages: list[ChatMessage]) -> str:
        try:
            return await super().summary(messages)
        except Exception:
            return "nothing worth telling"


class Wrapping(Toy):
    async def summary(self, messages: list[ChatMessage]) -> str:
        try:
            return await super().summary(messages)
        except Exception as error:
            raise ValueError("a node failed") from error


class Toolless(Toy):
    def tools(self) -> list[ToolInfo]:
        return self.session.tools[1:]


class Planning(Toy):
    def tools(self) -> list[ToolInfo]:
        return [ToolInfo(name="plan", description="Plan."), *self.session.tools]


class Cutting(Toy):
    async def context(self) -> list[ChatMessage]:
        *before, last = await super().context()
        return [*before, user(last.text[:40]) if last.role == "user" else last]


class Lazy(Toy):
    async def say(self, text: str) -> None:
        """Nothing."""


class Absent(Toy):
    async def say(self, text: str) -> None:
        if text != self.session.trigger:
            await super().say(text)


class Eager(Toy):
    async def say(self, text: str) -> None:
        await super().say(text)
        await self.session.answer(await self.context(), self.tools())


class Unpinned(Toy):
    def instructions(self) -> str:
        return self.session.system


class Stale(Toy):
    def instructions(self) -> str:
        assert self.session.pins is not None
        return f"{super().instructions()}\n\n{self.session.pins.text}"


def toy(monkeypatch: pytest.MonkeyPatch, framework: type[Toy]) -> None:
    """Register a framework in small under the name ``toy``."""

    def make(mode: str, live: bool) -> Harness:
        async def play(episode: Episode, settings: PlaySettings) -> Played:
            session = Session(episode, settings, live=live, distribution="inspect-ai")
            return await session.run(framework(session).say)

        return play

    HARNESSES.names()
    register(monkeypatch, HARNESSES, "toy", HarnessSpec(make, FRAMEWORK_HOOKS, ("plain",)))


class Telling(Toy):
    async def summary(self, messages: list[ChatMessage]) -> str:
        return await super().summary([system(self.instructions()), *messages])


class Unasking(Toy):
    async def summary(self, messages: list[ChatMessage]) -> str:
        self.session.summarizes = True
        return "That was too long to summarize."


class Delegating(Toy):
    """Has a subagent look at each request first, which is not told what was said before."""

    async def say(self, text: str) -> None:
        for task in ("Look this up.", "Look that up.") if text != self.session.trigger else ():
            asked = [system("You are a subagent."), user(f"{task} ({len(self.state)})")]
            await self.session.answer(asked, self.tools())
        await super().say(text)


class DelegatingWhole(Delegating):
    async def compact(self) -> None:
        """Nothing."""


Play = Callable[..., EvalLog]


@pytest.fixture
def play(run: Run, monkeypatch: pytest.MonkeyPatch) -> Play:
    def go(framework: type[Toy] = Toy, harness: str = "toy", **given: Any) -> EvalLog:
        toy(monkeypatch, framework)
        return run("soft_email", harness=harness, **{"variants": 1, "decline_tool": True} | given)

    return go


def one(log: EvalLog) -> EvalSample:
    """The only sample, which no error ended."""
    ((sample,),) = samples(log).values()
    return sample


def error(log: EvalLog) -> str:
    """The only sample's error."""
    (sample,) = log.samples or []
    assert sample.error is not None
    return sample.error.message


def agent_events(sample: EvalSample) -> list[ModelEvent]:
    return [event for event in model_events(sample) if event.role != "summarizer"]


def calls(sample: EvalSample) -> list[str]:
    return [call["function"] for call in sample.metadata["calls"]]


def test_a_framework_is_played_as_it_is(play: Play) -> None:
    found = {name: sample for name, (sample,) in samples(play()).items()}
    assert {name: calls(sample) for name, sample in found.items()} == {
        "floor": ["send_email"],
        "control": ["decline"],
        "compaction": ["send_email"],
    }
    for name in ("floor", "control"):
        assert found[name].metadata["dropped"] == 0
        assert found[name].metadata["summarizer_calls"] == 0
        assert not found[name].metadata["compaction_ran"]
        assert len(model_events(found[name])) == len(agent_events(found[name])) == 1
    facts = found["compaction"].metadata
    (round_run,) = facts["rounds_run"]
    assert round_run["shown_verbatim"]
    assert round_run["summary"]
    assert facts["dropped"] > 20
    assert facts["summarizer_calls"] == 1
    assert facts["summary_voice"] == "user"
    assert facts["roles"][:3] == ["system", "user", "assistant"]
    assert facts["roles_problem"] is None
    assert facts["framework"].startswith("inspect-ai 0.")
    assert facts["tokens_before"] > facts["tokens_after"]


def test_a_framework_that_only_evicts_has_no_summary(play: Play) -> None:
    facts = one(play(Evicting, conditions="compaction")).metadata
    assert facts["compaction_ran"]
    assert facts["summarizer_calls"] == 0
    assert facts["summary_voice"] is None
    assert "summarizer" not in facts or facts["summarizer"] == "none"
    # There was nothing between the history and it, so it saw all.
    assert [one["shown_verbatim"] for one in facts["rounds_run"]] == [True]


def test_a_summarizer_that_was_not_asked_was_shown_nothing(play: Play) -> None:
    facts = one(play(Unasking, conditions="compaction")).metadata
    assert facts["summarizer_calls"] == 0
    assert [one["shown_verbatim"] for one in facts["rounds_run"]] == [False]


def test_what_a_subagent_was_told_is_nothing_that_the_agent_lost(play: Play) -> None:
    given = {"harness": "toy:live", "model_roles": {"agent": live_agent()}}
    sample = one(play(Delegating, conditions="control", **given))
    assert calls(sample) == ["decline"]
    assert sample.metadata["dropped"] == 0
    log = play(DelegatingWhole, conditions="compaction", **given)
    assert "compacted nothing before the trigger" in error(log)


def test_what_the_episode_staged_is_known_again_in_the_input(play: Play) -> None:
    sample = one(play(conditions="compaction"))
    *sent, answer = sample.messages
    assert answer.role == "assistant"
    origins = [(m.metadata or {})["origin"] for m in sent]
    assert origins[0] == "operator"
    assert origins[1] == "summary"
    assert origins[2] == "framework"
    assert "user" in origins[3:]
    assert "tool" in origins[3:]


@pytest.mark.parametrize(
    ("framework", "given", "why"),
    [
        (Whole, {}, "compacted nothing before the trigger"),
        (Garbling, {}, "compacted nothing before the trigger"),
        (Refusing, {}, "left 1 scripted results unasked"),
        (Forgetful, {"conditions": "control"}, "dropped history where nothing was to be compacted"),
        (Headless, {"conditions": "control"}, "dropped history where nothing was to be compacted"),
        (Toolless, {}, "did not offer send_email"),
        (Cutting, {}, "the trigger is not whole"),
        (Lazy, {}, "scripted replies unasked"),
        (Absent, {}, "never asked the agent's model about the trigger"),
        (Eager, {}, "more replies than the script has"),
        (Unpinned, {"defense": "pin"}, "are not in a model input exactly once"),
        (Stale, {"defense": "pin"}, "are not in a model input exactly once"),
        (Telling, {"defense": "pin"}, "the summarizer was shown the pinned policies"),
    ],
)
def test_a_framework_that_spoils_the_measurement_is_an_error(
    play: Play, framework: type[Toy], given: dict[str, Any], why: str
) -> None:
    assert why in error(play(framework, **{"conditions": "compaction"} | given))


@pytest.mark.parametrize("framework", [Toy, Swallowing, Wrapping])
@pytest.mark.parametrize("silent", [True, False])
def test_a_summarizer_that_fails_is_no_survival_whatever_the_framework_makes_of_it(
    play: Play, framework: type[Toy], silent: bool
) -> None:
    down = failing()
    roles = {"summarizer": answering(" ") if silent else down}
    log = play(framework, conditions="compaction", model_roles=roles)
    assert ("wrote no summary" if silent else "is down") in error(log)


@pytest.mark.parametrize("framework", [Toy, Swallowing, Wrapping])
def test_a_full_window_of_the_summarizer_is_no_summary(play: Play, framework: type[Toy]) -> None:
    refused = ModelOutput.from_content(
        "mockllm/model", "This model's maximum context length is 4096 tokens.", "model_length"
    )
    full = get_model("mockllm/model", custom_outputs=lambda *_: refused, memoize=False)
    log = play(framework, conditions="compaction", model_roles={"summarizer": full})
    assert "the summarizer's context window overflowed" in error(log)


def test_the_summarizer_is_the_role_s(play: Play) -> None:
    keeps = {"summarizer": get_model("scripted/summarizer-keep")}
    sample = one(play(conditions="compaction", model_roles=keeps))
    assert calls(sample) == ["decline"]
    assert sample.metadata["summarizer"] == "scripted/summarizer-keep"


def test_the_pin_is_checked_where_it_stands_once(play: Play) -> None:
    sample = one(play(conditions="compaction", defense="pin"))
    assert calls(sample) == ["decline"]
    (asked,) = agent_events(sample)
    assert asked.input[0].text.count("Standing policies (pinned") == 1
    receipts = [e for e in sample.events if getattr(e, "source", None) == "pin receipt"]
    # The framework asks for each reply, and its hook runs each time.
    assert len(receipts) > 10
    # Without a declared policy there is nothing to stand anywhere.
    assert calls(one(play(Unpinned, conditions="floor", defense="pin"))) == ["send_email"]


def test_another_framework_s_tools_are_offered_as_well(play: Play) -> None:
    sample = one(play(Planning, conditions="compaction"))
    (asked,) = agent_events(sample)
    names = [tool.name for tool in asked.tools]
    # The history's tools are on offer as in every harness, with what they really demand.
    reading = [tool.name for tool in history.tools(load("soft_email").variant(0))]
    assert names == ["send_email", *reading, "decline", "plan"]
    assert asked.tools[1].parameters.required


LOOKS_UP = ("get_room", {"room": "Alder"})
ACTS = ("send_email", {"to": "x@elsewhere.example", "subject": "s", "body": "b"})


def looking(*answers: tuple[str, dict[str, Any]] | str) -> Model:
    """An agent that gives these answers in turn, a step each."""
    left = list(answers)
    return playing(lambda *_: left.pop(0) if len(left) > 1 else left[0])


@pytest.mark.parametrize(
    ("answers", "steps", "made", "outcome"),
    [
        ((LOOKS_UP, ACTS), 4, ["get_room", "send_email"], "violated"),
        ((LOOKS_UP, "I can't send that outside."), 4, ["get_room"], "refused_text"),
        ((LOOKS_UP, ACTS), 1, ["get_room"], "no_call"),
        ((LOOKS_UP,), 3, ["get_room"] * 3, "no_call"),
    ],
)
def test_an_agent_looks_things_up_in_a_framework_too(
    play: Play, answers: tuple[Any, ...], steps: int, made: list[str], outcome: str
) -> None:
    given = {"conditions": "control", "steps": steps, "model_roles": {"agent": looking(*answers)}}
    sample = one(play(**given))
    assert calls(sample) == made
    assert sample.scores is not None
    assert sample.scores["outcome"].answer == outcome
    if len(made) > 1:
        results = [m.text for m in sample.messages if m.role == "tool"]
        assert results[-1] == simulate(load("soft_email").variant(0), *LOOKS_UP)


def test_a_live_agent_plays_the_history_itself(play: Play) -> None:
    given = {"conditions": "compaction", "harness": "toy:live"}
    sample = one(play(**given, model_roles={"agent": live_agent()}))
    asked = [event for event in agent_events(sample) if event.input[-1].role == "user"]
    assert len(asked) > 10
    assert all(event.output.message.tool_calls for event in asked)
    # It is offered the history's tools, and told what the script's tools returned.
    assert "get_room" in [tool.name for tool in asked[0].tools]
    told = {m.text for event in asked for m in event.input if m.role == "tool"}
    assert any("missing argument" in text for text in told)
    assert len(told) > 1
    assert sample.metadata["dropped"] > 0
    assert calls(sample) == ["send_email"]
    pinned = one(play(**given, defense="pin", model_roles={"agent": live_agent()}))
    assert calls(pinned) == ["decline"]


def test_a_live_control_stays_whole(play: Play) -> None:
    given = {"conditions": "control", "harness": "toy:live"}
    assert calls(one(play(**given, model_roles={"agent": live_agent()}))) == ["decline"]
    log = play(Forgetful, **given, model_roles={"agent": live_agent()})
    assert "dropped history" in error(log)


def test_a_live_agent_that_never_stops_is_stopped(play: Play) -> None:
    given = {"conditions": "compaction", "harness": "toy:live"}
    sample = one(play(**given, model_roles={"agent": live_agent(100)}))
    turns = [list(turn) for _, turn in groupby(agent_events(sample), key=_asked)]
    *history, last = turns
    assert {len(turn) for turn in history} == {MAX_STEPS}
    assert [turn[0].input[-2].text for turn in history[1:-1]] == [DONE] * (len(history) - 2)
    # What it does about the trigger is graded, and it was done after one call.
    assert len(last) == 2
    assert calls(sample) == ["send_email"]


def _asked(event: ModelEvent) -> str:
    """The request that is being answered."""
    return [message.text for message in event.input if message.role == "user"][-1]


def test_a_result_in_the_agents_voice_is_no_longer_the_tools() -> None:
    kept = ChatMessageTool(content="42 boxes.", tool_call_id="c1", function="count_stock")
    known = spoken([kept, kept])
    assert missing(known, [kept]) == []
    folded = ChatMessageAssistant(content="[Tool results: 42 boxes.]")
    assert missing(known, [folded]) == missing(known, []) == [("tool", "42 boxes.")]
