"""One draw of a summary for the conditions and defenses that leave the summarizer alone."""

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai import eval_retry
from inspect_ai.log import EvalLog
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    CompactionStrategy,
    Content,
    ContentText,
    Model,
    ModelOutput,
    ModelUsage,
    StopReason,
    get_model,
)

from constraintrot.defenses import DEFENSES, Defense, Stacked, make
from constraintrot.report.contrasts import pairing
from constraintrot.report.frame import episodes
from tests.conftest import Run
from tests.helpers import answering, soaked
from tests.invoked import invoked

TOUCHES = {"head_retain", "recompile", "sanitize_summarizer"}


class Summaries:
    """A summarizer whose every answer is another, and which counts them."""

    def __init__(self) -> None:
        self.asked = 0
        self.model: Model = answering(self.write)

    def write(self) -> str:
        self.asked += 1
        return f"Draw number {self.asked}: the stock list has been checked by Dana and Sam."


def drawn(log: EvalLog) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = defaultdict(list)
    for sample in log.samples or []:
        assert sample.error is None, sample.error.message
        if sample.metadata["compaction_ran"]:
            key = f"{sample.metadata['condition']}/{sample.metadata['defense']}"
            found[key].append(sample.metadata["summary_draw"])
    return found


@pytest.mark.parametrize("rounds", [1, 3])
def test_pin_and_compaction_start_from_one_summary(run: Run, rounds: int) -> None:
    summaries = Summaries()
    log = run(
        "soft_email",
        variants=2,
        rounds=rounds,
        conditions="compaction,summary_removed,sham,summary_restored,defense_pin",
        model_roles={"summarizer": summaries.model},
    )
    assert summaries.asked == 2 * rounds
    found = drawn(log)
    assert len(found) == 5
    assert len({tuple(draws) for draws in found.values()}) == 1
    assert len(set(found["compaction/none"])) == 2


def test_a_defense_that_touches_the_summarizer_draws_for_itself(run: Run) -> None:
    summaries = Summaries()
    log = run(
        "pin_stress",
        families="soft_email",
        defenses="none,pin,spotlight,sanitize_summarizer",
        conditions="compaction,attack_inject",
        variants=1,
        model_roles={"summarizer": summaries.model},
    )
    # A draw for each history, and another for each that is sanitised.
    assert summaries.asked == 4
    found = drawn(log)
    for condition in ("compaction", "attack_inject"):
        draws = {name.split("/")[1]: value for name, value in found.items() if condition in name}
        assert draws["none"] == draws["pin"] == draws["spotlight"]
        assert draws["none"] != draws["sanitize_summarizer"]
    (said,) = pairing(episodes([log.location]))
    assert said.endswith(": sanitize_summarizer 2 of 2. These pairs share the history only.")


def test_two_runs_draw_for_themselves_and_the_table_says_so(run: Run) -> None:
    summaries = Summaries()
    logs = [
        run(
            "soft_email",
            variants=1,
            conditions=condition,
            model_roles={"summarizer": summaries.model},
        ).location
        for condition in ("compaction", "defense_pin")
    ]
    assert summaries.asked == 2
    (said,) = pairing(episodes(logs))
    assert said.startswith("! Episodes with a defense that start from another summary")
    assert said.endswith(": pin 1 of 1. These pairs share the history only.")


def test_which_defenses_touch_the_summarizer() -> None:
    found = {name for name in DEFENSES.names() if make(name, ["Be kind."]).touches_summarizer}
    assert found == TOUCHES


def test_a_defense_that_wraps_is_taken_to_touch_the_summarizer() -> None:
    class Wraps(Defense):
        def wrap(self, strategy: CompactionStrategy) -> CompactionStrategy:
            return strategy

    assert Wraps().touches_summarizer
    assert not Defense().touches_summarizer
    assert Stacked(Defense(), Wraps()).touches_summarizer
    assert not Stacked(Defense(), Defense()).touches_summarizer


EMPTY = [
    (c, text) for c in ("summarize", "hierarchical", "inspect_summary") for text in ("", " \n ")
]


@pytest.mark.parametrize(
    ("compactor", "text"),
    soaked(EMPTY, [("summarize", ""), ("hierarchical", " \n "), ("inspect_summary", "")]),
)
def test_an_empty_summary_is_asked_for_again(run: Run, compactor: str, text: str) -> None:
    answers = [text]
    log = run(
        "soft_email",
        variants=1,
        compactor=compactor,
        conditions="control,compaction,summary_removed,defense_pin",
        model_roles={"summarizer": answering(_in_turn(answers))},
    )
    for sample in log.samples or []:
        assert sample.error is None, sample.error.message
        compacted = sample.metadata["condition"] != "control"
        assert sample.metadata["summary_retries"] == int(compacted)


def test_no_summary_twice_errs_alike_in_all_that_share_it(run: Run) -> None:
    # Of two variants one is asked twice in vain, and the other once.
    answers = ["", "", " "]
    log = run(
        "soft_email",
        variants=2,
        conditions="control,compaction,summary_removed,sham,defense_pin",
        model_roles={"summarizer": answering(_in_turn(answers))},
    )
    failed: dict[int, set[str]] = defaultdict(set)
    for sample in log.samples or []:
        if sample.error is not None:
            assert "wrote no summary" in sample.error.message
            failed[sample.metadata["seed"]].add(sample.metadata["condition"])
    assert list(failed.values()) == [{"compaction", "summary_removed", "sham", "defense_pin"}]


def test_one_empty_summary_ends_no_run_and_the_table_counts_it(tmp_path: Path) -> None:
    (log,) = inspect_eval(
        "constraintrot/soft_email",
        model="scripted/obedient",
        model_roles={"summarizer": answering(_in_turn(["", "", " "]))},
        task_args={"variants": 2},
        log_dir=str(tmp_path),
        display="none",
        log_realtime=False,
    )
    finished = [sample for sample in log.samples or [] if sample.error is None]
    assert (len(log.samples or []), len(finished)) == (6, 5)
    # It is marked, so that eval-retry makes up for what is missing.
    assert log.status == "error"
    assert log.results is not None
    shown = invoked("table", tmp_path).stdout
    assert "! 1 of 6 planned episodes ended in an error and are in no rate:\n" in shown
    assert "  1 compaction: NoSummaryError('the summarizer wrote no summary" in shown
    assert "1 episodes start from a summary that was asked for twice" in shown
    (again,) = eval_retry(log, log_dir=str(tmp_path), display="none")
    assert again.status == "success"
    assert "ended in an error" not in invoked("table", tmp_path).stdout


def _in_turn(answers: list[str]) -> Callable[[], str]:
    """The answers, one after the other, and then a summary."""
    return lambda: answers.pop(0) if answers else "The stock list has been checked."


@pytest.mark.parametrize("compactor", ["summarize", "hierarchical", "inspect_summary"])
@pytest.mark.parametrize(("reason", "cut"), [("max_tokens", True), ("stop", False)])
def test_a_summary_that_its_token_limit_cut_off_is_marked(
    run: Run, compactor: str, reason: StopReason, cut: bool
) -> None:
    said = ModelOutput.from_content("mockllm/model", "The stock list has been", reason)
    said.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    model = get_model("mockllm/model", custom_outputs=lambda *_: said, memoize=False)
    log = run(
        "soft_email",
        variants=1,
        compactor=compactor,
        conditions="control,compaction,defense_pin",
        model_roles={"summarizer": model},
    )
    for sample in log.samples or []:
        assert sample.error is None, sample.error.message
        expected = cut and sample.metadata["condition"] != "control"
        assert (sample.metadata["summary_cut"] > 0) == expected


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("content_filter", "wrote no summary"),
        ("unknown", "wrote no summary"),
        ("model_length", "summarizer's context window"),
    ],
)
@pytest.mark.parametrize("compactor", ["inspect_summary", "inspect_auto", "playbook_rewrite"])
def test_an_error_of_the_provider_is_no_summary(
    run: Run, compactor: str, reason: StopReason, told: str
) -> None:
    failed = ModelOutput.from_content("mockllm/model", "Your prompt was rejected.", reason)
    failed.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    model = get_model("mockllm/model", custom_outputs=lambda *_: failed, memoize=False)
    log = run("soft_email", variants=1, compactor=compactor, conditions="compaction", model=model)
    (sample,) = log.samples or []
    assert sample.error is not None
    assert told in sample.error.message


REFUSED: list[Content] = [ContentText(text="I'm sorry, but I cannot assist.", refusal=True)]


@pytest.mark.parametrize("compactor", ["summarize", "inspect_summary", "playbook_rewrite"])
@pytest.mark.parametrize(
    "said", [REFUSED, "<think>The user wants a summary.</think>", "<think>The user wants"]
)
def test_a_refusal_or_a_thought_is_no_summary(
    run: Run, compactor: str, said: str | list[Content]
) -> None:
    output = ModelOutput.from_content("mockllm/model", said)
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    model = get_model("mockllm/model", custom_outputs=lambda *_: output, memoize=False)
    log = run("soft_email", variants=1, compactor=compactor, conditions="compaction", model=model)
    (sample,) = log.samples or []
    assert sample.error is not None
    assert "wrote no summary" in sample.error.message


def test_a_thought_before_a_summary_is_no_part_of_it(run: Run) -> None:
    said = "<think>Mail goes to colleagues only.</think>The stock list has been checked."
    log = run(
        "soft_email",
        variants=1,
        conditions="compaction",
        model_roles={"summarizer": answering(said)},
    )
    (sample,) = log.samples or []
    (made,) = sample.metadata["rounds_run"]
    assert made["summary"].endswith("\nThe stock list has been checked.")
    assert "colleagues" not in made["summary"]


@pytest.mark.parametrize("compactor", ["summarize", "inspect_summary"])
def test_a_provider_that_never_tells_a_reason_writes_summaries(run: Run, compactor: str) -> None:
    said = ChatCompletionChoice(message=ChatMessageAssistant(content="The stock list is checked."))
    output = ModelOutput(model="mockllm/model", choices=[said])
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    model = get_model("mockllm/model", custom_outputs=lambda *_: output, memoize=False)
    roles = {"summarizer": model}
    log = run(
        "soft_email", variants=1, compactor=compactor, conditions="compaction", model_roles=roles
    )
    (sample,) = log.samples or []
    assert sample.error is None, sample.error.message
    assert sample.metadata["summary_retries"] == 0
