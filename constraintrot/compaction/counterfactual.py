"""Counterfactual contexts: the same compaction without the policy, and with it put back."""

from __future__ import annotations

from collections.abc import Sequence

from inspect_ai.model import ChatMessage, ChatMessageUser

from constraintrot.compaction.rounds import Compacted, after_opening
from constraintrot.compactors.turns import SUMMARY
from constraintrot.episode.episode import Episode
from constraintrot.episode.messages import ORIGIN
from constraintrot.errors import EpisodeError
from constraintrot.grading.survival import mentions, remove
from constraintrot.scenario.template import Value

# What an emptied message says: providers refuse an empty one.
EMPTIED = "…"


def edited(compacted: Compacted, episode: Episode, *, restored: bool) -> Compacted:
    """The counterfactual context: the policy removed, or removed and put back.

    Args:
        compacted: the context; it stays as it is.
        episode: whose policy.
        restored: whether the policy is put back word for word.

    Raises:
        EpisodeError: the policy still stands after its removal, or does not
            stand after it was put back.
    """
    slots = episode.variant.slots
    context, removed = list(compacted.context), list[str]()
    if not compacted.degenerate:
        context, removed = _without_policy(context, slots)
    if mentions(after_opening(context), episode.policy, slots).kept:
        raise EpisodeError("the policy still stands in the context after its removal")
    if restored:
        context = _with_policy(context, episode.policy, compacted.rounds[-1].summary)
        if not mentions(after_opening(context), episode.policy, slots).verbatim:
            raise EpisodeError("the policy does not stand in the context after it was put back")
    return compacted.model_copy(update={"context": context, "removed": removed})


def _without_policy(
    context: Sequence[ChatMessage], slots: dict[str, tuple[Value, ...]]
) -> tuple[list[ChatMessage], list[str]]:
    kept: list[ChatMessage] = []
    gone: list[str] = []
    for message in context:
        if message.source == "input":
            kept.append(message)
            continue
        text, removed = remove(message.text, slots)
        gone += removed
        kept.append(message.model_copy(update={"content": text or EMPTIED}) if removed else message)
    return kept, gone


def _with_policy(context: list[ChatMessage], policy: str, summary: str | None) -> list[ChatMessage]:
    """Put the policy at the end of the last summary; without one, after the opening.

    Some providers have a summary's message merged with the request after it,
    so the policy goes where the summary's own text ends.
    """
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
