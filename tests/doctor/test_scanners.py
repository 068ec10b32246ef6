"""The scanners for Scout, on a transcript with a compaction; skipped where Scout is not installed."""

import asyncio
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from inspect_ai.event import CompactionEvent, Event, ModelEvent, SpanBeginEvent
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    get_model,
)
from inspect_ai.model._model import init_model_roles

from constraintrot.coding_agents.sessions.events import Compaction, Session
from constraintrot.coding_agents.sessions.inspect_messages import conversation
from constraintrot.doctor.findings import Diagnosis
from constraintrot.doctor.rules import Rule
from constraintrot.doctor.verdicts import diagnose
from constraintrot.evaluation.roles import ROLES
from constraintrot.redaction import MASK
from tests.doctor.sessions import FORCE_PUSH, SUMMARY


def model_event(*texts: str) -> ModelEvent:
    said: list[ChatMessage] = [ChatMessageUser(content=text, id=text[:12]) for text in texts]
    return ModelEvent(
        model="m", input=said, tools=[], tool_choice="auto", config=GenerateConfig(),
        output=ModelOutput.from_content("m", "ok"),
    )  # fmt: skip


def recorded() -> list[Any]:
    return [model_event(FORCE_PUSH, "Go on."), CompactionEvent(), model_event(SUMMARY, "Go on.")]


RULE = Rule("push", FORCE_PUSH, file="rules.yaml")


def diagnosed(events: list[Event], *rules: Rule) -> Diagnosis:
    told = list(conversation("s", [], events))
    log = Session(Path("log"), "log", "inspect", "Inspect log", 0, (), lambda losses: iter(told))
    return diagnose(log, rules or None)


def test_inspect_events_tell_the_context_after_a_compaction() -> None:
    ((made, _, _),) = diagnosed(recorded(), RULE).lost()
    assert made.certainty == "written"


def test_context_that_a_source_could_not_know_is_not_judged() -> None:
    events: list[Event] = [model_event(FORCE_PUSH, "Go on."), CompactionEvent(source="atif"),
              model_event(FORCE_PUSH, "Go on.")]  # fmt: skip
    assert diagnosed(events, RULE).compactions[0].changes[0].outcome == "cannot be told"


def rules_found(events: list[Event]) -> list[str]:
    return [one.rule.text for one in diagnosed(events).histories]


OTHER = "Never write to the archive."


@pytest.mark.parametrize("role", [*sorted({*ROLES} - {"agent", "summarizer"}), "grader"])
def test_what_another_model_is_asked_is_no_rule_of_the_user(role: str) -> None:
    asked = model_event(OTHER).model_copy(update={"role": role})
    assert rules_found([model_event(FORCE_PUSH), asked]) == [FORCE_PUSH]
    assert rules_found([model_event(FORCE_PUSH), model_event(OTHER)]) == [FORCE_PUSH, OTHER]


def test_what_the_scaffold_review_asks_the_agent_is_no_part_of_the_conversation() -> None:
    """It asks of each passage by itself, and of each rule, in spans of its own."""

    def begun(id: str, parent: str | None, name: str) -> Event:
        return SpanBeginEvent(id=id, parent_id=parent, name=name, span_id=parent)

    def inside(id: str) -> Event:
        return model_event(OTHER).model_copy(update={"span_id": id})

    spans = [begun("r", None, "review"), begun("a", "r", "recall"), begun("b", "r", "judge rule 1")]
    asked = [*spans[:2], inside("a"), spans[2], inside("b")]
    assert rules_found([model_event(FORCE_PUSH), *asked]) == [FORCE_PUSH]
    # Somebody else's review is work like any other.
    theirs = [begun("r", None, "review"), inside("r")]
    assert rules_found([model_event(FORCE_PUSH), *theirs]) == [FORCE_PUSH, OTHER]


@pytest.mark.parametrize(
    ("kind", "rules"), [(None, [FORCE_PUSH]), ("handoff", [FORCE_PUSH, OTHER])]
)
def test_what_a_sub_agent_is_asked_is_no_rule_of_the_user(
    kind: str | None, rules: list[str]
) -> None:
    """One that runs as a tool is asked by the agent; one that is handed over to hears the user."""
    spans = [("h", None, kind), ("t", "h", "tool"), ("a", "t", "agent")]
    begun = [SpanBeginEvent(id=id, parent_id=parent, name=id, type=type, span_id=parent)
             for id, parent, type in spans]  # fmt: skip
    again = model_event(OTHER).model_copy(update={"span_id": "a"})
    asked: list[Event] = [again, CompactionEvent(type="summary", span_id="a"), again]
    events: list[Event] = [model_event(FORCE_PUSH), *begun, *asked]
    assert rules_found(events) == rules
    told = list(conversation("s", [], events))
    assert any(isinstance(one, Compaction) for one in told) is (kind is not None)


@pytest.mark.parametrize("role", ["summarizer", None])
def test_what_a_summarizer_is_asked_is_no_rule_of_the_user(role: str | None) -> None:
    history: list[ChatMessage] = [
        ChatMessageUser(content=FORCE_PUSH, id="a"), ChatMessageAssistant(content="ok", id="b"),
        ChatMessageUser(content="Summarise it. Use at most 60 words.", id="c"),
    ]  # fmt: skip
    output = ModelOutput.from_content("m", SUMMARY)
    asked = model_event("x").model_copy(update={"input": history, "role": role, "output": output})
    events: list[Event] = [asked, CompactionEvent(type="summary"), model_event(SUMMARY, "Go on.")]
    found = diagnosed(events)
    assert [one.rule.text for one in found.histories] == [FORCE_PUSH]
    assert len(found.lost()) == 1


def test_scanner_gives_a_result_a_rule_and_compaction() -> None:
    pytest.importorskip("inspect_scout", reason="constraintrot[scout] is not installed")
    from constraintrot.doctor.scanners import rule_survival

    transcript: Any = SimpleNamespace(
        transcript_id="t", source_uri="log", source_type="eval_log", messages=[], events=recorded()
    )
    # Scout's types say more than is known of it where it is not installed.
    scanner: Any = rule_survival()
    (result,) = asyncio.run(scanner(transcript))
    assert (result.value, result.metadata["after"]) == ("lost", "lost")


def test_a_judge_is_sent_no_secret_of_a_transcript() -> None:
    pytest.importorskip("inspect_scout", reason="constraintrot[scout] is not installed")
    from constraintrot.doctor.scanners import rule_survival

    asked: list[str] = []

    def answer(input: list[ChatMessage], *_: Any) -> ModelOutput:
        asked.append(input[-1].text)
        return ModelOutput.from_content("mockllm", "{}")

    secret = "sk-live4f9a8b7c6d5e4f3a2b1c"
    events = [
        model_event(FORCE_PUSH, f"Deploy with {secret}."), CompactionEvent(),
        model_event(f"{SUMMARY} The deployment took {secret}.", "Go on."),
    ]  # fmt: skip
    transcript: Any = SimpleNamespace(
        transcript_id="t", source_uri="log", source_type="eval_log", messages=[], events=events
    )
    scanner: Any = rule_survival(reader="judge")

    async def scan() -> None:
        init_model_roles({"judge": get_model("mockllm/model", custom_outputs=answer)})
        await scanner(transcript)

    asyncio.run(scan())
    assert asked
    assert MASK in "".join(asked)
    assert secret not in "".join(asked)


def log_of(folder: Path) -> None:
    """An Inspect log of a session that was compacted, and pushed with force afterwards."""
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.log import transcript
    from inspect_ai.model import get_model
    from inspect_ai.solver import Generate, Solver, TaskState, solver

    pushes = ModelOutput.for_tool_call("mockllm", "bash", {"command": "git push --force"})

    @solver
    def played() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            model = get_model("mockllm/model", custom_outputs=[
                ModelOutput.from_content("mockllm", "ok"), pushes,
            ])  # fmt: skip
            await model.generate([ChatMessageUser(content=FORCE_PUSH)])
            transcript()._event(CompactionEvent(type="summary"))
            await model.generate([ChatMessageUser(content=SUMMARY)])
            return state

        return solve

    eval(Task(dataset=[Sample("x")], solver=played()), model="mockllm/model", log_dir=str(folder),
         display="none")  # fmt: skip


@pytest.mark.soak
@pytest.mark.parametrize(
    ("scanner", "value", "says"),
    [("rule_survival", "lost", "not stated any more after compaction 1"),
     ("rule_broken", "1", FORCE_PUSH)],
)  # fmt: skip
def test_scout_scans_a_log_by_the_names_of_the_docs(
    scanner: str, value: str, says: str, tmp_path: Path
) -> None:
    pytest.importorskip("inspect_scout", reason="constraintrot[scout] is not installed")
    from inspect_scout import scan_results_df

    log_of(tmp_path / "logs")
    (tmp_path / "rules.yaml").write_text(
        f"rules:\n  - {{text: {FORCE_PUSH}, breach: {{tool: bash, matches: push.*--force}}}}\n"
    )
    program = Path(sys.executable).parent / "scout"
    subprocess.run(
        [program, "scan", f"constraintrot/{scanner}", "-T", "logs", "-S", "rules=rules.yaml",
         "--scans", "scans", "--max-processes", "1"],
        cwd=tmp_path, check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    (made,) = (tmp_path / "scans").iterdir()
    frame = scan_results_df(str(made)).scanners[scanner]
    assert [str(one) for one in frame["value"]] == [value]
    assert says in frame["explanation"][0]
