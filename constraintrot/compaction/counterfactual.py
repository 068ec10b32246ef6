"""Counterfactual contexts of one compaction: policy removed, put back, or other text removed."""

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from inspect_ai.model import ChatMessage, ChatMessageUser

from constraintrot.compaction.deletion import EMPTIED, Deletion, sham, without_policy
from constraintrot.compaction.rounds import Compacted, Degenerate, after_opening
from constraintrot.compactors.turns import SUMMARY, summary_body
from constraintrot.episode.episode import Episode
from constraintrot.episode.messages import ORIGIN
from constraintrot.errors import EpisodeError
from constraintrot.rule_text.clauses import size
from constraintrot.rule_text.survival import mentions
from constraintrot.tokens import count

Measure: TypeAlias = Callable[[str], int]
# Fewer words or Chinese characters are useless to an agent.
_OF_USE = 3


def edited(
    compacted: Compacted, episode: Episode, edit: Literal["removed", "restored", "sham"]
) -> Compacted:
    """Return the counterfactual context, marked ``degenerate`` if it shows nothing.

    The mark does not depend on the edit, so that a contrast of two edits drops the
    same episodes from both.

    ``removed`` takes the policy's clauses out; ``restored`` also puts the policy back verbatim;
    ``sham`` takes out as much other text instead.
    """
    context, deleted, why = compacted.context, Deletion(compacted.context), compacted.degenerate
    if why is None:
        removed = without_policy(context, episode.variant)
        matched = sham(context, episode.variant, removed)
        why = _why(removed.context, matched)
        deleted = removed if edit != "sham" else matched or deleted
    _check(deleted.context, episode, held=edit == "sham" and compacted.degenerate is None)
    left = deleted.context
    if edit == "restored":
        left = _with_policy(left, episode.policy, compacted.rounds[-1].summary)
        _check(left, episode, held=True)
    return compacted.model_copy(
        update={
            "context": left,
            "removed": deleted.removed,
            "removed_characters": _share(context, deleted, len),
            "removed_tokens": _share(context, deleted, count),
            "degenerate": why,
        }
    )


def _why(removed: Sequence[ChatMessage], matched: Deletion | None) -> Degenerate | None:
    if sum(size(text) for text in _bodies(removed)) < _OF_USE:
        return "nothing_left"
    return None if matched is not None else "no_match"


def _check(context: Sequence[ChatMessage], episode: Episode, *, held: bool) -> None:
    found = mentions(after_opening(context), episode.policy, episode.variant.slots)
    if found.kept and not held:
        raise EpisodeError("the policy is still in the context after its removal")
    if held and not found.kept:
        raise EpisodeError("the policy is not in the context, where the condition needs it")


def _written(context: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return the messages that a compactor wrote, or those that it kept if it only dropped some."""
    kept = [message for message in context if message.source != "input"]
    return [m for m in kept if SUMMARY in (m.metadata or {})] or kept


def _bodies(context: Sequence[ChatMessage]) -> list[str]:
    """Return the texts of the messages that a compactor wrote, without the frame of a summary."""
    texts = (summary_body(message.text) for message in _written(context))
    return ["" if text == EMPTIED else text for text in texts]


def _share(context: Sequence[ChatMessage], deleted: Deletion, measure: Measure) -> float:
    whole = sum(measure(text) for text in _bodies(context))
    return min(1.0, sum(map(measure, deleted.removed)) / whole) if whole else 0.0


def _with_policy(
    context: Sequence[ChatMessage], policy: str, summary: str | None
) -> list[ChatMessage]:
    """Put the policy after the last summary's text, or after the opening if nothing was summarised."""
    for at in range(len(context) - 1, -1, -1):
        if SUMMARY in (context[at].metadata or {}):
            text = context[at].text
            end = len(summary) if summary and text.startswith(summary) else len(text)
            text = f"{text[:end]}\n\n{policy}{text[end:]}"
            return [
                *context[:at],
                context[at].model_copy(update={"content": text}),
                *context[at + 1 :],
            ]
    at = sum(1 for message in context if message.source == "input")
    restored = ChatMessageUser(content=policy, id="restored", metadata={ORIGIN: "user"})
    return [*context[:at], restored, *context[at:]]
