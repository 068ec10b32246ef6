"""A compaction that was due ran, or its sample is an error; what it left is in the log."""

import json
from collections import defaultdict
from itertools import takewhile
from pathlib import Path
from typing import Any

import anyio
import pytest
from inspect_ai.log import resolve_sample_attachments
from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    CompactionStrategy,
    Model,
    get_model,
)
from inspect_ai.tool import ToolInfo

from constraintrot.compaction.counterfactual import edited
from constraintrot.compaction.rounds import compact
from constraintrot.compactors import COMPACTORS, Compactor, Settings, budget_tokens, make
from constraintrot.episode.episode import Episode
from constraintrot.episode.messages import (
    message_texts,
)
from constraintrot.episode.staging import stage
from constraintrot.errors import EpisodeError
from constraintrot.evaluation.parameters import read
from constraintrot.rule_text.survival import mentions
from constraintrot.scenario.files import load
from tests.conftest import Run
from tests.helpers import answering, by_condition, register, samples
from tests.stub_openai import serving

FOUR = "compaction,summary_removed,sham,summary_restored"


def test_one_summary_serves_all_that_starts_from_it(run: Run) -> None:
    roles = {"summarizer": "scripted/summarizer-keep"}
    log = run("soft_email", variants=2, epochs=2, conditions=FOUR, model_roles=roles)
    summaries: dict[tuple[int, int], set[str]] = defaultdict(set)
    made: dict[tuple[int, int], int] = defaultdict(int)
    for sample in log.samples or []:
        key = sample.metadata["seed"], sample.metadata["replicate"]
        summaries[key].add(json.dumps(sample.metadata["rounds_run"]))
        made[key] += sample.metadata["summary_made_here"]
    assert len(summaries) == 4
    assert {len(seen) for seen in summaries.values()} == {1}
    assert set(made.values()) == {1}


def test_removed_and_restored_differ_only_in_the_policy(run: Run) -> None:
    roles = {"summarizer": "scripted/summarizer-keep"}
    found = samples(run("soft_email", variants=2, conditions=FOUR, model_roles=roles))
    for removed, restored in zip(found["summary_removed"], found["summary_restored"], strict=True):
        policy = load("soft_email").variant(removed.metadata["seed"]).policy("declarative")
        for a, b in zip(removed.messages[:-1], restored.messages[:-1], strict=True):
            assert b.text in (a.text, f"{a.text}\n\n{policy}")
        assert removed.metadata["removed"]
        assert 0 < removed.metadata["removed_characters"] < 1
        assert 0 < removed.metadata["removed_tokens"] < 1


class _Idle(CompactionStrategy):
    def __init__(self) -> None:
        super().__init__(type="trim", memory=False)

    async def compact(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> tuple[list[ChatMessage], ChatMessageUser | None]:
        return messages, None


def test_a_compaction_that_changed_nothing_is_an_error_not_a_survival(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    COMPACTORS.names()
    register(monkeypatch, COMPACTORS, "idle", Compactor(lambda _: _Idle()))
    log = run("soft_email", variants=1, compactor="idle")
    errors = {s.metadata["condition"]: s.error for s in log.samples or []}
    assert errors["control"] is None
    error = errors["compaction"]
    assert error is not None
    assert "changed nothing" in error.message


def test_a_summarizer_that_fails_fails_the_sample(run: Run) -> None:
    def broken() -> str:
        raise RuntimeError("the summarizer is down")

    roles = {"summarizer": answering(broken)}
    log = run("soft_email", variants=1, model_roles=roles)
    failed = [s.metadata["condition"] for s in log.samples or [] if s.error is not None]
    assert failed == ["compaction"]


def test_compaction_by_size_fires_above_it_only(run: Run) -> None:
    log = run("soft_email", variants=2, context_tokens=1500, compact_at=900)
    assert by_condition(log)["compaction"] == 1.0
    for sample in samples(log)["compaction"]:
        assert sample.metadata["tokens_before"] > 900
        assert sample.metadata["compact_at"] == 900
    with pytest.raises(Exception, match="compact_at"):
        run("soft_email", variants=1, context_tokens=500, compact_at=900)


@pytest.mark.parametrize("compactor", ["summarize", "hierarchical"])
def test_a_budget_above_what_is_summarised_is_an_error(run: Run, compactor: str) -> None:
    given = {"compactor": compactor, "budget_words": 180, "context_tokens": 250, "variants": 1}
    (sample,) = run("soft_email", conditions="compaction", **given).samples or []
    assert sample.error is not None
    allowed = f"budget_words=180 allows about {budget_tokens(180)} tokens"
    assert allowed in sample.error.message
    assert "nothing has to be left out" in sample.error.message


def test_a_summary_of_the_default_budget_leaves_most_out() -> None:
    defaults = read({})
    words = defaults.plays[0].compactor.settings.budget_words
    assert words is not None
    assert defaults.context_tokens >= 2000
    assert budget_tokens(words) < defaults.context_tokens / 10


def test_a_history_below_the_size_is_an_error_not_a_survival() -> None:
    episode = stage(load("soft_email").variant(0), policy=True, context_tokens=300)
    strategy = make(Settings("truncate", compact_at=5000))

    async def go() -> None:
        await compact(episode, strategy, get_model("scripted/obedient"), by_size=True)

    with pytest.raises(EpisodeError, match="below compact_at"):
        anyio.run(go)


@pytest.mark.parametrize("text", ["", "  "])
def test_no_summary_is_an_error_not_a_decay(run: Run, text: str) -> None:
    log = run("soft_email", variants=1, model_roles={"summarizer": answering(text)})
    failed = {s.metadata["condition"]: s.error for s in log.samples or [] if s.error is not None}
    assert set(failed) == {"compaction"}
    assert "wrote no summary" in failed["compaction"].message


def test_a_fresh_run_shares_no_context_with_an_earlier_one(run: Run, cache: Path) -> None:
    roles = {"summarizer": "scripted/summarizer-keep"}
    for _ in range(2):
        log = run("soft_email", variants=1, conditions=FOUR, model_roles=roles)
        assert sum(s.metadata["summary_made_here"] for s in log.samples or []) == 1
    assert len(list((cache / "contexts").iterdir())) == 2


@pytest.mark.parametrize("family", ["soft_email", "hard_secret"])
def test_removal_leaves_no_policy_wherever_it_stood(family: str) -> None:
    for seed in range(5):
        episode = stage(load(family).variant(seed), policy=True)
        strategy = make(Settings("head_tail"))

        async def go(episode: Episode = episode, strategy: CompactionStrategy = strategy) -> Any:
            return await compact(episode, strategy, get_model("scripted/obedient"), by_size=False)

        kept = anyio.run(go)
        removed = edited(kept, episode, "removed")
        slots = episode.variant.slots
        assert mentions(message_texts(kept.context), episode.policy, slots).verbatim
        assert not mentions(message_texts(removed.context), episode.policy, slots).kept
        assert not removed.degenerate
        restored = edited(kept, episode, "restored")
        assert mentions(message_texts(restored.context), episode.policy, slots).verbatim


def test_the_diff_of_the_history_is_in_the_transcript(run: Run) -> None:
    (sample,) = samples(run("soft_email", variants=1))["compaction"]
    sample = resolve_sample_attachments(sample, "full")
    policy = load("soft_email").variant(0).policy("declarative")
    diffs = [e.data for e in sample.events if e.event == "info" and "diff" in (e.source or "")]
    assert len(diffs) == 1
    assert f"-user: {policy}" in str(diffs[0])
    assert "+user: [Summary of the conversation so far]" in str(diffs[0])
    (compacted,) = [e for e in sample.events if e.event == "compaction"]
    assert (compacted.metadata or {})["strategy"] == "Summarize"


def test_a_delegating_strategy_reports_which_one_ran(run: Run) -> None:
    (sample,) = samples(run("soft_email", variants=1, compactor="inspect_auto"))["compaction"]
    (compacted,) = [e for e in sample.events if e.event == "compaction"]
    assert (compacted.metadata or {})["strategy"] == "CompactionAuto"
    assert (compacted.metadata or {})["strategy_applied"] == "CompactionSummary"


# Calls that read the same history send the same bytes first, so that a provider can cache them.

SUMMARY, ACT, RECALL = "Write a summary", "Answer with one tool call", "Copy each one word for word"


def sent(run: Run, monkeypatch: pytest.MonkeyPatch, **given: Any) -> list[str]:
    """The messages of each request that the provider received, as JSON."""
    with serving() as stub:
        monkeypatch.setenv("STUB_BASE_URL", stub.url)
        monkeypatch.setenv("STUB_API_KEY", "none")
        stub.say("The tasks so far are done.")
        # Inspect keeps a model with its address under its name.
        model = f"openai-api/stub/{stub.url.rpartition(':')[2]}"
        log = run("pin_stress", model, families=["soft_email"], variants=1,
                  context_tokens=2000, attack="none", **given)  # fmt: skip
        assert samples(log)
        return [json.dumps(body["messages"]) for body in stub.requests]


def shared(one: str, other: str) -> float:
    """The part of the shorter text with which both begin."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)) / min(
        len(one), len(other)
    )


def test_the_summarizer_and_the_agent_in_full_view_read_the_same_bytes(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = sent(run, monkeypatch, conditions="control,compaction", defenses=["none", "pin"])
    (summary,) = [one for one in requests if SUMMARY in one[-600:]]
    in_full_view = [one for one in requests if ACT in one[-300:] and len(one) > len(summary)]
    assert len(in_full_view) == 2, "with the pin and without"
    assert max(shared(one, summary) for one in in_full_view) > 0.9
    # A pin stands in the system message, before the history.
    assert min(shared(one, summary) for one in in_full_view) < 0.1


def test_recall_and_answer_of_an_episode_read_the_same_bytes(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = sent(run, monkeypatch, conditions="control", defenses=["none"], scaffold="review")
    recall, act = requests
    assert RECALL in recall
    assert shared(recall, act) > 0.9
