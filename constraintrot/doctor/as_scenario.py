"""A recorded session as the history of a scenario: its turns before the compaction, without the rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from constraintrot.authoring.check_texts import value_slots
from constraintrot.coding_agents.sessions.events import Compaction, Losses, Message, Session
from constraintrot.doctor.rules import folded
from constraintrot.doctor.verdicts import diagnose
from constraintrot.errors import ConstraintRotError
from constraintrot.redaction import Masker
from constraintrot.rule_text.survival import best_window, sentences
from constraintrot.scenario.schema import Scenario

# Characters of one text, and of all turns of a file, which is read whole.
_LONGEST, _MOST = 4_000, 400_000

Turn = dict[str, Any]


def rules_of(session: Session) -> list[str]:
    """Return the rules that were said in a session, those first that a compaction lost.

    Those of which that cannot be told come next.
    """
    diagnosis = diagnose(session, None)
    found = [one for one in diagnosis.histories if one.given is not None]
    untold = {
        one.number for _, one, change in diagnosis.changed() if change.outcome == "cannot be told"
    }
    found.sort(key=lambda one: (one.lost_at is None, one.number not in untold))
    return list({folded(one.rule.text): one.rule.text for one in found}.values())


def recorded(session: Session, rule: str, masker: Masker) -> list[Turn]:
    """Return the turns of a session before its first compaction, the newest that a file can hold.

    Args:
        session: the session.
        rule: the rule; sentences that say it are left out.
        masker: masks the secrets of all texts.

    Raises:
        ConstraintRotError: no turn of a user stands before the compaction.
    """
    kept, room = list[Turn](), _MOST
    for turn in reversed(list(_turns(session))):
        shown = _mapped(turn, lambda text: _cut(masker(_without(text, rule))))
        room -= len(str(shown))
        if room < 0:
            break
        if shown["user"].strip():
            kept.insert(0, shown)
    if not kept:
        raise ConstraintRotError(
            f"{session.name}: no turn of a user stands before its first compaction"
        )
    return kept


def with_history(data: Mapping[str, Any], turns: Sequence[Turn]) -> tuple[dict[str, Any], int]:
    """Lay a recorded history under a draft.

    Args:
        data: the draft's entries.
        turns: the recorded turns.

    Returns:
        The entries, and how many turns were left out since they say the rule in other words,
        or call a tool of the scenario.

    Raises:
        ConstraintRotError: no turn is left.
    """
    whole = Scenario.model_validate(data)
    slots, telling = whole.variant(0).slots, value_slots(whole)
    acting = {tool.name for tool in whole.variant(0).tools} | {whole.channels.tool.function}
    kept: list[Turn] = []
    for turn in turns:
        held = best_window(str(turn), slots)
        used = {call["function"] for call in turn["calls"]}
        if not (held & telling or held == set(slots) or used & acting):
            kept.append(turn)
    if not kept:
        raise ConstraintRotError("every turn of the session says the rule; nothing is left to play")
    entries = {name: value for name, value in data.items() if name != "topics"}
    return {**entries, "recorded": kept}, len(turns) - len(kept)


def _turns(session: Session) -> Iterator[Turn]:
    """A user's words, the calls that followed with their results, and the agent's last words."""
    turn: Turn | None = None
    waiting: list[Turn] = []
    for event in session.events(Losses()):
        if isinstance(event, Compaction) and event.counted:
            break
        if not isinstance(event, Message):
            continue
        if event.channel == "user":
            if turn is not None:
                yield _finished(turn)
            turn, waiting = {"user": event.text, "calls": [], "reply": ""}, []
        elif turn is not None and event.role == "assistant":
            turn["reply"] = event.text or turn["reply"]
            made = [{"function": one.function, "arguments": dict(one.arguments), "result": ""}
                    for one in event.calls]  # fmt: skip
            turn["calls"] += made
            waiting += made
        elif event.role == "tool" and waiting:
            waiting.pop(0)["result"] = event.text
    if turn is not None:
        yield _finished(turn)


def _finished(turn: Turn) -> Turn:
    """A turn without empty texts, which no file may hold."""
    calls = [{**call, "result": call["result"] or "(no output)"} for call in turn["calls"]]
    return {"user": turn["user"], "calls": calls, "reply": turn["reply"] or "(no words)"}


def _without(text: str, rule: str) -> str:
    """A text without the sentences that are the rule's."""
    said = {folded(one) for one in (rule, *sentences(rule))}
    return "".join(one for one in sentences(text) if folded(one) not in said)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} [cut]"


def _mapped(value: Any, change: Callable[[str], str], key: str = "") -> Any:
    """A turn with its texts changed, but for the names of tools and arguments."""
    if isinstance(value, str):
        return value if key == "function" else change(value) or "(nothing)" * (key != "user")
    if isinstance(value, list):
        return [_mapped(one, change) for one in value]
    if isinstance(value, dict):
        return {name: _mapped(one, change, name) for name, one in value.items()}
    return value
