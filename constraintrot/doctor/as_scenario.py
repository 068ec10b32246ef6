"""A recorded session's turns before its compaction as a scenario's history, without the rule."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from constraintrot.authoring.check_texts import value_slots
from constraintrot.coding_agents.sessions.events import Compaction, Losses, Message, Session
from constraintrot.doctor.rules import folded
from constraintrot.doctor.verdicts import diagnose
from constraintrot.errors import ConstraintRotError
from constraintrot.redaction import MASK, Masker, is_secret_name
from constraintrot.rule_text.survival import best_window, sentences
from constraintrot.scenario.schema import Scenario

# Most characters of one text, and of all turns of a file, which is read whole.
_LONGEST, _MOST = 4_000, 400_000
# Most levels of a call's arguments; deeper ones would make the file unreadable.
_DEEPEST = 20
_NOTHING = "(nothing)"

Turn = dict[str, Any]


def rules_of(sessions: Sequence[Session]) -> list[str]:
    """Return the rules that were stated in sessions, first those lost in a compaction.

    Rules with an undecided verdict come next. Secrets in them are masked.
    """
    mask, found = Masker(), list[tuple[bool, bool, str]]()
    for diagnosis in (diagnose(session, None) for session in sessions):
        untold = {
            one.number
            for _, one, change in diagnosis.changed()
            if change.outcome == "cannot be told"
        }
        found += [
            (one.lost_at is None, one.number not in untold, mask(one.rule.text))
            for one in diagnosis.histories
            if one.given is not None
        ]
    found.sort(key=lambda one: one[:2])
    return list({folded(text): text for _, _, text in found}.values())


def called(session: Session) -> Iterator[str]:
    """Yield each argument of a session's tool calls that is one line: ``branch=release``."""
    messages = (one for one in session.events(Losses()) if isinstance(one, Message))
    for call in (call for message in messages for call in message.calls):
        told = (f"{name}={value}" for name, value in call.arguments.items())
        yield from (one for one in told if len(one.splitlines()) == 1)


def recorded(session: Session, rule: str, masker: Masker) -> list[Turn]:
    """Return a session's turns before its first compaction, the newest that fit into a file.

    Sentences that state the rule are left out, and secrets are masked.
    """
    kept, room = list[Turn](), _MOST
    for turn in reversed(list(_turns(session))):
        shown = _masked(turn, masker, lambda text: _cut(_without(masker(text), rule)))
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
    """Add a recorded history to a draft.

    Returns:
        The entries, and the number of turns left out because they state the rule in other
        words, or call a tool of the scenario.
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
    name = hashlib.sha256(repr(kept).encode()).hexdigest()[:12]
    return {**entries, "session": name, "recorded": kept}, len(turns) - len(kept)


def _turns(session: Session) -> Iterator[Turn]:
    """Yield turns: the user's text, the following calls and results, and the agent's last text.

    Turns that a rewind took back and calls of sub-agents are left out.
    """
    turns: list[Turn] = []
    # The calls without a result, by their keys; and the number of turns at each message.
    waiting: dict[str, Turn] = {}
    begun: dict[str, int] = {}
    for event in session.events(Losses()):
        if isinstance(event, Compaction) and event.counted:
            break
        if isinstance(event, Compaction):
            end = begun.get(event.kept.last, begun.get(event.kept.before, len(turns) + 1) - 1)
            del turns[end:]
        if not isinstance(event, Message):
            continue
        if event.channel == "user":
            turns.append({"user": event.text, "calls": [], "reply": ""})
            waiting = {}
        elif turns and event.role == "assistant" and event.origin != "sub-agent":
            turns[-1]["reply"] = event.text or turns[-1]["reply"]
            for one in event.calls:
                made = {"function": one.function, "arguments": dict(one.arguments), "result": ""}
                turns[-1]["calls"].append(made)
                waiting[one.key or f"call {len(waiting)}"] = made
        elif event.role == "tool" and waiting:
            unnamed = next((key for key in waiting if key.startswith("call ")), "")
            answered = waiting.pop(event.answers, None) or waiting.pop(unnamed, {})
            answered["result"] = event.text
        begun[event.key] = len(turns)
    yield from map(_finished, turns)


def _finished(turn: Turn) -> Turn:
    """Return a turn with its empty texts replaced, which a file may not hold."""
    calls = [{**call, "result": call["result"] or "(no output)"} for call in turn["calls"]]
    return {"user": turn["user"], "calls": calls, "reply": turn["reply"] or "(no words)"}


def _without(text: str, rule: str) -> str:
    said = {folded(one) for one in (rule, *sentences(rule))}
    return "".join(one for one in sentences(text) if folded(one) not in said)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} [cut]"


def _masked(turn: Turn, masker: Masker, change: Callable[[str], str]) -> Turn:
    """Return a turn with all texts changed except the names of tools."""

    def mapped(value: Any, secret: bool = False, deep: int = _DEEPEST) -> Any:
        nested = isinstance(value, (list, dict))
        # Too deep a value is not searched for secret names, so it is masked whole.
        if not deep if nested else secret and value is not None:
            masker.masked += 1
            return MASK
        if isinstance(value, str):
            return change(value) or _NOTHING
        if isinstance(value, list):
            return [mapped(one, secret, deep - 1) for one in value]
        if isinstance(value, dict):
            return {
                change(name): mapped(one, secret or is_secret_name(name), deep - 1)
                for name, one in value.items()
            }
        return value

    calls = [
        {**one, "arguments": mapped(one["arguments"]), "result": change(one["result"]) or _NOTHING}
        for one in turn["calls"]
    ]
    return {
        "user": change(turn["user"]), "calls": calls, "reply": change(turn["reply"]) or _NOTHING,
    }  # fmt: skip
