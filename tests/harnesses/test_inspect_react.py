"""Inspect's react(): what is particular to its strategies."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.agent import AgentPrompt, AgentState, react
from inspect_ai.dataset import Sample
from inspect_ai.event import CompactionEvent
from inspect_ai.model import (
    ChatMessage,
    CompactionAuto,
    CompactionEdit,
    CompactionStrategy,
    CompactionSummary,
    CompactionTrim,
    GenerateConfig,
    Model,
    ModelOutput,
    modelapi,
)
from inspect_ai.tool import Tool, ToolChoice, ToolInfo, tool

from constraintrot.defenses.pinning import PinnedCompaction, PinnedModel
from constraintrot.episode.messages import message_texts
from constraintrot.models.offline import OfflineAPI, metered
from tests.conftest import Run
from tests.harnesses.episodes import compacted, error, kept_by_summarizer, usual
from tests.harnesses.live_agent import model_events
from tests.harnesses.rules import (
    CHANNELS,
    FIRST_USER,
    LATER_USER,
    LOSSY,
    PINNED,
    SYSTEM,
    TOOL,
    kept,
    registry,
)
from tests.helpers import answering, by_condition, samples

SOFT = ["soft_email", "soft_language", "soft_channel", "soft_deploy", "soft_spend"]


@pytest.mark.parametrize("mode", ["summary", "auto"])
def test_inspect_compacts_once_and_says_how(shared_run: Run, mode: str) -> None:
    (sample,) = samples(usual(shared_run, f"inspect_react:{mode}"))["compaction"]
    (event,) = [event for event in sample.events if isinstance(event, CompactionEvent)]
    assert event.metadata is not None
    assert ("fallback_reason" in event.metadata) is (mode == "auto")


@pytest.mark.parametrize(
    ("mode", "families"),
    [
        ("summary", SOFT[:2]),
        ("trim", SOFT[2:]),
        ("edit", SOFT[1:2]),
        *(pytest.param(mode, SOFT, marks=pytest.mark.soak) for mode in ("summary", "trim", "edit")),
    ],
)
def test_a_short_history_of_every_family_is_compacted(
    run: Run, mode: str, families: list[str]
) -> None:
    given = {"harness": f"inspect_react:{mode}", "context_tokens": 400, "variants": 1}
    log = run("pin_stress", families=families, defenses="pin", conditions="compaction", **given)
    assert by_condition(log) == {"compaction": 0}
    played = samples(log)["compaction"]
    assert {sample.metadata["family"] for sample in played} == set(families)
    assert all(sample.metadata["compaction_ran"] for sample in played)


def test_the_summarizer_is_asked_by_inspect_s_own_words(shared_run: Run) -> None:
    sample = kept_by_summarizer(shared_run, "inspect_react:summary", "user")
    (asked,) = [event for event in model_events(sample) if event.role == "summarizer"]
    assert "MUST be preserved verbatim" in asked.input[-1].text


def test_a_summary_is_known_when_its_analysis_is_cut_from_it(run: Run) -> None:
    thinks = answering("<analysis>What was it?</analysis>\n<summary>Routine work.</summary>")
    sample = compacted(run, harness="inspect_react", model_roles={"summarizer": thinks})
    assert sample.metadata["summary_voice"] == "user"
    assert "What was it?" not in "\n".join(message.text for message in sample.messages)


def test_native_is_refused_by_a_model_without_it(run: Run) -> None:
    why = error(run, harness="inspect_react:native")
    assert "scripted/obedient has no compaction of its own" in why
    assert "inspect_react:auto" in why


@tool
def read_handbook() -> Tool:
    async def execute() -> str:
        """Read the handbook."""
        return TOOL

    return execute


@tool
def look_up() -> Tool:
    async def execute() -> str:
        """Look up a ticket."""
        return "The printer is out of paper. " * 10

    return execute


class Worker(OfflineAPI):
    """Reads the handbook, then looks up tickets; a lossy summarizer too. Keeps what it was sent."""

    def __init__(self, turns: int = 12) -> None:
        super().__init__("worker")
        self.script = ["read_handbook", None, *["look_up"] * turns, None]
        self.sent: list[str] = []

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        asked = None
        if tools:
            asked = self.script[len(self.sent)]
            self.sent.append("\n".join(message_texts(input)))
        said = LOSSY if not tools else "Done."
        output = (
            ModelOutput.for_tool_call("worker", asked, {})
            if asked
            else ModelOutput.from_content("worker", said)
        )
        return metered(output, message_texts(input))


# Inspect wants to know a model's provider by name.
registered: Any = modelapi(name="worker")(Worker)


async def later(state: AgentState) -> bool | str:
    """The second request, once."""
    if state.output.message.tool_calls:
        return True
    asked = any(message.text == LATER_USER for message in state.messages)
    return False if asked else LATER_USER


LIMIT = 600
# Inspect never compacts the sample's input, so the first message of the user's is always kept.
MATRIX: dict[str, tuple[Callable[[], CompactionStrategy | None], set[str]]] = {
    "nothing": (lambda: None, set(CHANNELS)),
    "summary": (lambda: CompactionSummary(threshold=LIMIT), {"system", "first user"}),
    "auto": (lambda: CompactionAuto(threshold=LIMIT), {"system", "first user"}),
    "trim": (lambda: CompactionTrim(threshold=LIMIT, preserve=0.4), {"system", "first user"}),
    "edit": (
        lambda: CompactionEdit(threshold=LIMIT, keep_tool_uses=3),
        {"system", "first user", "later user"},
    ),
    "edit, handbook excluded": (
        lambda: CompactionEdit(threshold=LIMIT, exclude_tools=["read_handbook"]),
        set(CHANNELS),
    ),
}


@pytest.mark.parametrize("pinned", [False, True], ids=["plain", "pinned"])
@pytest.mark.parametrize("row", MATRIX)
def test_the_matrix(row: str, pinned: bool, tmp_path: Path) -> None:
    make, expected = MATRIX[row]
    strategy, worker = make(), registered()
    rules = registry(PINNED)
    agent = react(
        prompt=AgentPrompt(instructions=SYSTEM, assistant_prompt=None),
        tools=[read_handbook(), look_up()],
        model=PinnedModel(rules) if pinned else None,
        compaction=PinnedCompaction(strategy, rules) if pinned and strategy else strategy,
        submit=False,
        on_continue=later,
    )
    (log,) = inspect_eval(
        Task(dataset=[Sample(input=FIRST_USER)], solver=agent),
        model=Model(worker, GenerateConfig()),
        log_dir=str(tmp_path),
        display="none",
        log_realtime=False,
    )
    assert log.status == "success", log.error
    assert kept(worker.sent[-1]) == expected
    assert all(text.count(PINNED) == pinned for text in worker.sent)
