"""One pass over a session: its rules, their places, its compactions, and calls that break rules.

The reader's verdicts on the new contexts are in ``constraintrot.doctor.states``.
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from constraintrot.coding_agents.sessions.events import Compaction, Facts, Message, Session
from constraintrot.coding_agents.sessions.tools import without_line_numbers
from constraintrot.doctor import breaches
from constraintrot.doctor.breaches import Breach
from constraintrot.doctor.closest import has_most, stems
from constraintrot.doctor.context import Context, Place, Presence, Standing, without_text
from constraintrot.doctor.documents import is_sent, kind
from constraintrot.doctor.findings import Broken, Compacted, Diagnosis, History, Turn
from constraintrot.doctor.rules import Rule, folded, named
from constraintrot.doctor.states import conclude
from constraintrot.redaction import beginning, ends
from constraintrot.rule_text.said import Kind, stated
from constraintrot.rule_text.survival import SURVIVED, Survival
from constraintrot.rule_text.words import WordsReader

# Most rules to search for in one session if none are given.
MOST_RULES = 60
# Most of these from pages and tools, which unlike a handbook do not set rules.
_MOST_TOLD = 20
# Characters at the beginning and end of a message that are searched for rules.
_SEARCHED = 20_000
# Characters of the new context that are kept for the report, and for the reader.
_SHOWN = 8_000
_READ = 12_000
_MOST_BREACHES = 50
# Most statements of one rule that are remembered.
_MOST_STATED = 1_000
# Turns that may lift a rule: most per rule, and most characters of each.
_MOST_LATER = 20
_LONGEST_TURN = 1_500
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)


def diagnose(session: Session, rules: Sequence[Rule] | None) -> Diagnosis:
    """Read a session with the reader ``words``, and return the fate of its rules.

    If ``rules`` is None, they are extracted from the user's, files' and tools' messages.
    """
    found = observe(session, rules)
    asyncio.run(conclude(found, WordsReader()))
    return found


def observe(session: Session, rules: Sequence[Rule] | None) -> Diagnosis:
    """Read a session as ``diagnose`` does, without the reader's verdicts."""
    return _Reading(session, rules).read()


class _Reading:
    def __init__(self, session: Session, rules: Sequence[Rule] | None) -> None:
        self.found = Diagnosis(session)
        self._presence = Presence()
        self._context = Context(self._presence)
        self._extracting = rules is None
        self._pending: Compacted | None = None
        self._texts: list[str] = []
        self._new: list[str] = []
        self._since: list[tuple[int, Message, list[Standing]]] = []
        self._room = 0
        self._cut = 0
        # Hashes of the texts shown to the model: a session may have millions of messages.
        self._seen: set[int] = set()
        self._stems: dict[int, frozenset[str]] = {}
        self._drafts: dict[int, Breach] = {}
        for rule in rules or ():
            self._watch(rule)

    def read(self) -> Diagnosis:
        try:
            for event in self.found.session.events(self.found.losses):
                if isinstance(event, Message):
                    self._message(event)
                elif isinstance(event, Compaction):
                    self._compaction(event)
                else:
                    self._facts(event)
        except Exception as error:
            # Even for a hostile file, the part that was read is reported.
            self.found.error = f"{type(error).__name__}: {error}"
        self._settle()
        if self._cut:
            self.found.losses.notes.append(
                f"texts so long that only their first and last {_SEARCHED:,} characters were"
                f" searched for rules: {self._cut}; name yours with --rules"
            )
        return self.found

    def _watch(self, rule: Rule) -> int:
        number = self._presence.add(rule)
        history = History(rule, number, accepted=bool(rule.file))
        history.sent_by_agent = _sent(rule, self.found)
        if rule.breach is None and (told := breaches.draft(rule.text)) is not None:
            history.draft = told
            self._drafts[number] = Breach.read(told, rule.name)
        self.found.histories.append(history)
        return number

    def _facts(self, facts: Facts) -> None:
        old = self.found.facts
        self.found.facts = Facts(
            facts.session or old.session, facts.cwd or old.cwd, facts.version or old.version
        )
        for history in self.found.histories:
            history.sent_by_agent = _sent(history.rule, self.found)

    def _message(self, message: Message) -> None:
        if message.role == "tool":
            message = replace(message, text=without_line_numbers(message.text))
        # Attached messages may follow the user's next turn, which is not part of the new
        # context.
        answers = message.role in ("assistant", "tool") and not message.attached
        if self._pending is not None and answers:
            self._settle()
        self.found.messages += 1
        self.found.turns += message.channel == "user"
        if message.role == "user":
            self._seen.add(hash(message.text))
        # Before the message is added: the agent's calls use its earlier context.
        self._calls(message)
        standing = self._context.add(message)
        if self._extracting and (self._pending is None or not message.attached):
            standing += self._extract(message)
        at = self._context.count - 1
        if message.channel == "user":
            self._later(message, at)
        if self._pending is None:
            self._given(at, message, standing)
        elif not message.attached:
            self._since.append((at, message, standing))
        elif self._room > 0:
            self._texts.append(message.text[: self._room])
            self._room -= len(message.text)
            if message.channel == "summary":
                self._new.append(message.text)

    def _later(self, message: Message, at: int) -> None:
        """Record a turn that shares a word with an earlier rule, which it may lift."""
        text = ends(message.text, _LONGEST_TURN)
        words = stems(text)
        for history in self.found.histories:
            if history.number not in self._stems:
                self._stems[history.number] = stems(history.rule.text)
            after = history.given is not None and history.given.ordinal < at
            if after and words & self._stems[history.number]:
                near = has_most(words, history.rule.ruling)
                history.later.append(Turn(at, message.line, text, is_near=near))
            if len(history.later) > _MOST_LATER:
                out = min(history.later, key=lambda one: one.is_near)
                history.later.remove(out)
                history.heard += [(out.at, False)] * out.is_near

    def _given(self, at: int, message: Message, standing: Sequence[Standing]) -> None:
        """Record the places where rules are stated first, and again."""
        for one in standing:
            history = self.found.histories[one.rule]
            if one.found.state not in SURVIVED:
                continue
            if message.channel == "agent":
                history.heard.append((at, True))
                continue
            # Code has many words that forbid something, so only a verbatim rule counts there.
            code = message.channel in ("tool", "file") and kind(message) != "rules"
            if message.channel == "summary" or (code and one.found.state != "verbatim"):
                continue
            if history.given is None:
                history.given = Place(one.found, without_text(message), at)
                history.given_turn = self.found.turns
            elif len(history.stated) < _MOST_STATED:
                history.stated.append((at, message.line))

    def _extract(self, message: Message) -> list[Standing]:
        """Extract new rules from a message, and return them as found in it."""
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
            if not rule.is_telling:
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
        self._cut += of == "rules"
        return f"{text[:_SEARCHED]}\n\n{text[-_SEARCHED:]}"

    def _calls(self, message: Message) -> None:
        self.found.calls += len(message.calls)
        for call in message.calls:
            for history in self.found.histories:
                breach = history.rule.breach or self._drafts.get(history.number)
                in_force = history.given is not None or history.sent_by_agent
                broken = history.broken if history.rule.breach else history.drafted
                if breach is None or not in_force or len(broken) >= _MOST_BREACHES:
                    continue
                if why := breach.broken_by(call):
                    by = "predicate" if history.rule.breach else "draft"
                    at = self._context.count
                    broken.append(
                        Broken(message.line, message.time, call.function, why, None, by, at)
                    )

    def _compaction(self, compaction: Compaction) -> None:
        _, end, found = self._context.bounds(compaction)
        if not compaction.counted and not found:
            return
        self._settle()
        compaction = compaction.told_apart(self._seen)
        before, at = self._context.everywhere(), self._context.count
        sure = self._context.compact(compaction)
        if not compaction.counted:
            self.found.rewinds += [] if end is None else [(at, end)]
            return
        self._pending = Compacted(
            len(self.found.compactions) + 1, compaction.line, compaction.time, compaction.trigger,
            compaction.certainty if sure else "assumed", at=at, turns=self.found.turns,
            before=before,
        )  # fmt: skip
        if not sure:
            self.found.losses.notes.append(
                f"line {compaction.line}: what this compaction kept was not found in the file"
            )
        told = compaction.replacement or ()
        self._texts = [one.text for one in told]
        self._new = [one.text for one in told if one.channel == "summary"]
        self._room = 200_000

    def _settle(self) -> None:
        """Complete the pending compaction: record which kept messages hold the rules."""
        made, self._pending = self._pending, None
        if made is None:
            return
        typed = frozenset(at for at, _, _ in self._since)
        for history in self.found.histories:
            if (kept := self._context.kept(history.number, typed)) is not None:
                made.kept[history.number] = kept
        made.summary = beginning("\n\n".join(self._texts), _SHOWN)
        made.new, made.texts = _fitting(self._new), _fitting(self._texts)
        self.found.compactions.append(made)
        since, self._since, self._texts, self._new = self._since, [], [], []
        for at, message, standing in since:
            self._given(at, message, standing)


def _fitting(texts: Sequence[str]) -> tuple[str, ...]:
    """Return texts without code blocks, up to the reader's limit of characters."""
    left, found = _READ, list[str]()
    for text in texts:
        told = beginning(_CODE.sub("", text[: 4 * _READ]), left).strip()
        left -= len(told)
        found += [told] * bool(told)
    return tuple(found)


def _sent(rule: Rule, found: Diagnosis) -> bool:
    """Return whether a rule is from a file that the agent sends with each request."""
    file = str(Path(rule.file).absolute()) if rule.file else ""
    read = rule.origin if rule.channel == "nested file" else ""
    return is_sent(file or read, found.session.project_files, found.facts.cwd)
