"""The state of each rule at each compaction of a session, and the calls that broke it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath, PureWindowsPath

from constraintrot.coding_agents.sessions.events import (
    Certainty,
    Compaction,
    Facts,
    Message,
    Session,
)
from constraintrot.doctor.closest import closest
from constraintrot.doctor.context import Context, Place
from constraintrot.doctor.documents import Kind, kind, stated
from constraintrot.doctor.findings import Broken, Change, Compacted, Diagnosis, History
from constraintrot.doctor.presence import Presence, Standing
from constraintrot.doctor.rules import Rule, folded, named
from constraintrot.redaction import beginning
from constraintrot.rule_text.survival import SURVIVED, Survival
from constraintrot.rule_text.survival.states import SurvivalState

# Rules that are looked for in one session where none are given.
MOST_RULES = 60
# Of these, from pages and tools that set no rules as a handbook does.
_MOST_TOLD = 20
# Characters at the beginning and end of a message that are searched for rules.
_SEARCHED = 20_000
# Characters of the new context that are kept for the report.
_SHOWN = 8_000
_MOST_BREACHES = 50


def diagnose(session: Session, rules: Sequence[Rule] | None) -> Diagnosis:
    """Read a session, and say what became of its rules.

    Args:
        session: which.
        rules: the rules; None to take what the user, files and tools said in it.
    """
    return _Reading(session, rules).read()


class _Reading:
    """One pass over a session."""

    def __init__(self, session: Session, rules: Sequence[Rule] | None) -> None:
        self.found = Diagnosis(session)
        self._presence = Presence()
        self._context = Context(self._presence)
        self._extracting = rules is None
        self._pending: Compacted | None = None
        self._before: dict[int, Place] = {}
        self._texts: list[str] = []
        self._since: list[tuple[Message, list[Standing]]] = []
        self._room = 0
        self._turns = 0
        self._cut = 0
        for rule in rules or ():
            self._watch(rule)

    def read(self) -> Diagnosis:
        """The diagnosis."""
        try:
            for event in self.found.session.events(self.found.losses):
                if isinstance(event, Message):
                    self._message(event)
                elif isinstance(event, Compaction):
                    self._compaction(event)
                else:
                    self._facts(event)
        except Exception as error:
            # Whatever a hostile file does, what was read of it is reported.
            self.found.error = f"{type(error).__name__}: {error}"
        self._settle()
        for history in self.found.histories:
            if history.lost_at is None and history.given is not None:
                history.turns = self._turns - history.turns
        if self._presence.cut:
            self.found.losses.notes.append(
                f"{self._presence.cut} texts held more about a rule than is weighed; the"
                " beginning was"
            )
        if self._cut:
            self.found.losses.notes.append(
                f"texts so long that only their first and last {_SEARCHED:,} characters were"
                f" searched for rules: {self._cut}; name yours with --rules"
            )
        return self.found

    def _watch(self, rule: Rule) -> int:
        number = self._presence.add(rule)
        self.found.histories.append(History(rule, number))
        return number

    def _facts(self, facts: Facts) -> None:
        old = self.found.facts
        self.found.facts = Facts(
            facts.session or old.session, facts.cwd or old.cwd, facts.version or old.version
        )
        for history in self.found.histories:
            history.sent_by_agent = _sent(history.rule, self.found.session, self.found.facts.cwd)

    def _message(self, message: Message) -> None:
        # What the agent attaches may come after the user's next turn; what the user says
        # there is no part of what the compaction left.
        answers = message.role in ("assistant", "tool") and not message.attached
        if self._pending is not None and answers:
            self._settle()
        self.found.messages += 1
        self._turns += message.channel == "user"
        # The agent's own calls are made with what it knew before them.
        self._calls(message)
        standing = self._context.add(message)
        if self._extracting and (self._pending is None or not message.attached):
            standing += self._extract(message)
        if self._pending is None:
            self._given(message, standing)
        elif not message.attached:
            self._since.append((message, standing))
        elif self._room > 0:
            self._texts.append(message.text[: self._room])
            self._room -= len(message.text)

    def _given(self, message: Message, standing: Sequence[Standing]) -> None:
        """Note where rules are said first, and again after they were lost."""
        for one in standing:
            history = self.found.histories[one.rule]
            if one.found.state not in SURVIVED or message.role == "assistant":
                continue
            # Code is full of words that forbid something; a rule in it is one word for word.
            code = message.channel in ("tool", "file") and kind(message) != "rules"
            if message.channel == "summary" or (code and one.found.state != "verbatim"):
                continue
            if history.given is None:
                history.given = self._context.newest(one.rule)
                history.turns = self._turns
            elif history.lost_at is not None and len(history.said_again) < _MOST_BREACHES:
                history.said_again.append(message.line)

    def _extract(self, message: Message) -> list[Standing]:
        """Look for rules that nobody named; those found stand in this message."""
        of = kind(message)
        told = sum(one.rule.channel in ("file", "tool") for one in self.found.histories)
        full = of != "rules" and told >= _MOST_TOLD
        if of is None or full or len(self.found.histories) >= MOST_RULES:
            return []
        found: list[Standing] = []
        for text in stated(self._searched(message.text, of), of):
            same = [one for one in self.found.histories if one.rule.folded == folded(text)]
            if same or len(self.found.histories) >= MOST_RULES:
                continue
            taken = [one.rule.name for one in self.found.histories]
            rule = Rule(
                named(text, taken), text, channel=message.channel, origin=message.origin,
                line=message.line, time=message.time, session=self.found.session.name,
            )  # fmt: skip
            if not rule.about:
                continue
            number = self._watch(rule)
            standing = Standing(number, Survival("verbatim", text, "its own text"))
            self._context.note(standing, message)
            found.append(standing)
        if len(self.found.histories) >= MOST_RULES:
            self.found.losses.notes.append(
                f"more than {MOST_RULES} rules were said in this session; only the first"
                f" {MOST_RULES} are followed; name those that matter with --rules"
            )
        return found

    def _searched(self, text: str, of: Kind) -> str:
        """Return the part of a text that is searched for rules: a long text's beginning and end."""
        if len(text) <= 2 * _SEARCHED:
            return text
        self._cut += of != "tool"
        return f"{text[:_SEARCHED]}\n\n{text[-_SEARCHED:]}"

    def _calls(self, message: Message) -> None:
        self.found.calls += len(message.calls)
        for call in message.calls:
            for history in self.found.histories:
                breach = history.rule.breach
                in_force = history.given is not None or history.sent_by_agent
                if breach is None or not in_force or len(history.broken) >= _MOST_BREACHES:
                    continue
                why = breach.broken_by(call)
                if why:
                    knew = history.sent_by_agent or self._stands(history.number)
                    history.broken.append(
                        Broken(message.line, message.time, call.function, why, knew)
                    )

    def _stands(self, rule: int) -> bool:
        best = self._context.best(rule)
        return best is not None and best.found.survived

    def _compaction(self, compaction: Compaction) -> None:
        self._settle()
        if not compaction.counted:
            self._context.compact(compaction)
            return
        self._before = self._context.everywhere()
        sure = self._context.compact(compaction)
        self._pending = Compacted(
            len(self.found.compactions) + 1, compaction.line, compaction.time, compaction.trigger,
            compaction.certainty if sure else "assumed",
        )  # fmt: skip
        if not sure:
            self.found.losses.notes.append(
                f"line {compaction.line}: what this compaction kept was not found in the file"
            )
        self._texts = [one.text for one in compaction.replacement or ()]
        self._room = 200_000

    def _settle(self) -> None:
        """The new context is complete: compare it with the one before."""
        made, self._pending = self._pending, None
        if made is None:
            return
        for history in self.found.histories:
            change = self._change(history, made.certainty)
            made.changes[history.number] = change
            if change.outcome == "lost" and history.lost_at is None:
                history.lost_at, history.lost_time = made.number, made.time
                history.turns = self._turns - history.turns
        made.summary = beginning("\n\n".join(self._texts), _SHOWN)
        self.found.compactions.append(made)
        since, self._since, self._texts = self._since, [], []
        for message, standing in since:
            self._given(message, standing)

    def _change(self, history: History, certainty: Certainty) -> Change:
        before = self._before.get(history.number)
        typed = frozenset(message.line for message, _ in self._since)
        after = self._context.best(history.number, but_lines=typed)
        old = before.found.state if before else None
        new: SurvivalState = after.found.state if after else "lost"
        if history.sent_by_agent:
            return Change("sent by the agent", old, new, before, after)
        if history.given is None or before is None or old not in SURVIVED:
            return Change("not there", old, new, before, after)
        if new in SURVIVED:
            return Change("survived", old, new, before, after)
        if certainty == "opaque":
            return Change("cannot be told", old, None, before, after)
        return Change("lost", old, new, before, after, closest(history.rule.text, self._texts))


def _sent(rule: Rule, session: Session, cwd: str) -> bool:
    """Return whether a rule is of a file that the agent sends with each request.

    True for the instruction file of the session's folder or one above it, and for one of
    the user's own (``~/.claude/CLAUDE.md``), by the name that this agent reads.
    """
    if not rule.file or not cwd:
        return False
    path = PureWindowsPath(rule.file) if "\\" in rule.file else PurePosixPath(rule.file)
    if path.name not in session.project_files:
        return False
    folder = path.parent
    here = type(path)(cwd)
    return folder == here or folder in here.parents or folder.name.startswith(".")
