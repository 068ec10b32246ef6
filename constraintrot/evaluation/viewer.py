"""The notes on an episode for a person in ``inspect view``; no model and no scorer reads them.

Inspect's list of samples has columns for a sample's input and target, but not for its
metadata. The harnesses play the staged episode and not the sample's input, so the input names
the condition and the request, and the target the policy.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from inspect_ai.event import Event, InfoEvent
from inspect_ai.viewer import SampleScoreView, TaskSamplesColumn, TaskSamplesView, ViewerConfig

from constraintrot.episode.episode import Episode
from constraintrot.evaluation.play_settings import PlaySettings

EPISODE = "episode"
RESULT = "receipts and tokens"
"""Sources of the info events with the texts of ``staged_text`` and ``result_text``."""

_TOKENS = {
    "tokens_before": "{:,} before the (last) compaction",
    "tokens_after": "{:,} after it",
    "input_tokens": "{:,} in the agent's last input",
}
_COUNTED = (
    "o200k tokens of the messages alone, the same for every model, as in the sample's metadata and"
    " in the report. Inspect's compaction event adds the tools' definitions to `tokens_before` and"
    " not to `tokens_after`; the usage is what the provider counted, over all calls."
)
_MOST_RECEIPTS = 12
# The other scores come after them: a task cannot hide a column of scores.
_SHOWN = (
    ("violation", "violation"), ("survival", "survived"), ("utility", "utility"),
    ("recalled", "recalled"), ("probed", "probed"),
)  # fmt: skip


def input_text(play: PlaySettings, request: str) -> str:
    """Return a sample's input: the condition, then the request."""
    condition = play.condition
    facts = [condition.name]
    for name, own, chosen in (
        ("attack", condition.attack, str(play.attack)),
        ("defense", condition.defense, str(play.defense)),
    ):
        if own is None and chosen != "none":
            facts.append(f"{name} {chosen}")
    return f"[{', '.join(facts)}] {request}"


def target_text(policy: str, *, allowed: bool, stated: bool = True, because: str = "") -> str:
    """Return a sample's target: whether the request is prohibited, and the policy.

    ``because`` says why it is allowed if the staged policy is not the reason.
    """
    word = ("Allowed" if allowed else "Prohibited") if stated else "Not stated here"
    return f"{word}{f' ({because})' if because else ''}: {policy}"


def view() -> ViewerConfig:
    """Return the columns of the list of samples: request, policy, answer and main scores."""
    plain = ("sampleStatus", "sampleId", "input", "target", "answer")
    columns = [TaskSamplesColumn(id=name) for name in plain]
    columns += [TaskSamplesColumn.score(*name) for name in _SHOWN]
    # The provider's count over all calls is not the size of the context that is measured.
    columns += [TaskSamplesColumn(id=name, visible=False) for name in ("tokens", "duration")]
    return ViewerConfig(
        task_samples_view=TaskSamplesView(
            name="Episodes",
            columns=columns,
            multiline=True,
            score_color_scales={"violation": "good-low", "survived": "good-high"},
        ),
        sample_score_view=SampleScoreView(default="chips"),
    )


def staged_text(facts: Mapping[str, Any], episode: Episode, *, stated: bool) -> str:
    """Return the staged episode as Markdown: the policy, the request, and the conditions."""
    variant = episode.variant
    request = variant.allowed_trigger if episode.allowed else variant.trigger
    where = f"channel {facts['channel']}" if stated else "not stated in this condition"
    asked = "allowed" if facts["allowed"] else "prohibited"
    asked += " as staged; an operator's directive follows" if "in_force" in facts else ""
    under = ", ".join(
        f"{name} {facts[name]}"
        for name in ("condition", "compactor", "attack", "defense", "harness")
        if facts[name] != "none"
    )
    return f"{under}\n\n**Policy** ({where}): {episode.policy}\n\n**Asked** ({asked}): {request}"


def result_text(facts: Mapping[str, Any], events: Iterable[Event]) -> str:
    """Return receipts and sizes of a played episode as Markdown; empty without a receipt."""
    sizes = [
        words.format(facts[name]) for name, words in _TOKENS.items() if facts.get(name) is not None
    ]
    lines = [f"- {one}" for one in _receipts(events)]
    if not lines or not sizes:
        return "\n".join(lines)
    return "\n".join([*lines, f"- tokens: {', '.join(sizes)}", "", _COUNTED])


def _receipts(events: Iterable[Event]) -> list[str]:
    """Return one line per receipt, without reasons, which may be a model's words."""
    lines = [
        _LINES[event.source](cast("dict[str, Any]", event.data))
        for event in events
        if isinstance(event, InfoEvent) and isinstance(event.data, dict)
        if event.source is not None and event.source in _LINES
    ]
    left = len(lines) - _MOST_RECEIPTS
    return lines if left <= 0 else [*lines[:_MOST_RECEIPTS], f"{left} more receipts"]


def _pins(receipt: Mapping[str, Any]) -> str:
    at = receipt.get("at")
    place = (
        "in no message"
        if at is None
        else f"in message {at + 1}"
        if at >= 0
        else "in the instructions"
    )
    where = "the compaction" if receipt.get("where") == "compaction" else "the agent's call"
    facts = [f"pins at {where}: {receipt.get('state')}", place, f"{receipt.get('tokens')} tokens"]
    facts += [
        f"{len(receipt[name])} {name}" for name in ("missing", "removed") if receipt.get(name)
    ]
    return ", ".join(facts)


def _operator(receipt: Mapping[str, Any]) -> str:
    if "accepted" not in receipt:
        return _checked(receipt)
    if not receipt["accepted"]:
        return f"directive refused: {receipt.get('error')}"
    return f"directive applied: {receipt.get('kind')}, revision {receipt.get('revision')}"


def _checked(receipt: Mapping[str, Any]) -> str:
    return f"call checked: {receipt.get('outcome')}"


_LINES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "pin receipt": _pins,
    "operator channel": _operator,
    "tool_gate": _checked,
}
