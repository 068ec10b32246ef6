"""Examples for the acting adapter: a conversation with tools, and requests that end it.

::

    python -m results.tools.acting.generator train --seed 1 --count 400

writes one JSON object a line. Equal arguments give equal bytes. All requests of an example
continue the same conversation. The right answer is the call, or ``decline`` where a rule that
stands in the conversation forbids it; both follow from the values that were drawn.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

import click

from constraintrot.episode.scaffold.answer_format import ToolSpec
from results.tools.acting import work
from results.tools.acting.work import WORDINGS, Asked, Subject, turns
from results.tools.rule_judge.kinds import Split, frames, kinds

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
Place: TypeAlias = Literal[
    "early", "system", "memory", "notice", "middle", "late", "repeated", "summary", "absent"
]

_PLACES: dict[Place, int] = {
    "early": 30, "system": 10, "memory": 12, "notice": 8, "middle": 10, "late": 8, "repeated": 6,
    "summary": 16,
}  # fmt: skip
_ABSENT = 0.2
_TWO_RULES = 0.55
_MORE_RULES = 0.25
_SUMMARY_WITHOUT = 0.4
_MORE_TOOLS = 0.2
# How many requests break a rule in force and how many keep it, by the number of such rules;
# how many would break each of those that are not.
_BREAKING, _KEEPING = {1: 5, 2: 3}, {1: 3, 2: 2}
_FREE = {0: 2, 1: 2, 2: 2}
_REASONS = ("{rule}", "A rule forbids this: {rule}", "Not allowed here. {rule}")


@dataclass(frozen=True)
class Said:
    """One message; an assistant's may be a call."""

    role: Role
    text: str
    tool: str = ""
    arguments: dict[str, Any] | None = None


@dataclass(frozen=True)
class Question:
    """A request, its right answer, and where the rule about it stands.

    Attributes:
        asked: The request with the call that carries it out.
        place: Where the conversation has the rule; ``absent`` if it has none about this.
        declined: Whether the right answer is to decline.
        reason: What a right refusal says; empty where the call is right.
    """

    asked: Asked
    place: Place
    declined: bool
    reason: str = ""


@dataclass(frozen=True)
class Example:
    """A conversation and the requests that may follow.

    Attributes:
        tools: The tools on offer, ``decline`` last.
        messages: The conversation.
        questions: Each continues the conversation by itself.
    """

    tools: tuple[ToolSpec, ...]
    messages: tuple[Said, ...]
    questions: tuple[Question, ...]


def examples(
    split: Split, seed: int, count: int, tools: int = 0, wordings: Sequence[str] = WORDINGS[:1]
) -> list[Example]:
    """Generate conversations; each kind comes equally often.

    Args:
        split: Which kinds.
        seed: Equal seeds give equal examples.
        count: Number of conversations.
        tools: Least number of tools on offer; the needed ones come with it.
        wordings: Each rule is said in one of these.
    """
    rng = random.Random(f"acting {split} {seed}")
    deck = _deck(sorted(kinds(split)), rng)
    return [_Scene(deck, split, tools, wordings, rng).example() for _ in range(count)]


def digest(some: Iterable[Example]) -> str:
    """SHA-256 of the examples as they are written."""
    return hashlib.sha256("".join(map(to_line, some)).encode()).hexdigest()


def to_line(example: Example) -> str:
    """One example as a line of JSON."""
    return json.dumps(asdict(example), ensure_ascii=False) + "\n"


def _deck(names: list[str], rng: random.Random) -> Iterator[str]:
    while True:
        yield from rng.sample(names, len(names))


class _Scene:
    """One conversation in the making."""

    def __init__(
        self,
        deck: Iterator[str],
        split: Split,
        tools: int,
        wordings: Sequence[str],
        rng: random.Random,
    ) -> None:
        self._rng, self._split, self._least = rng, split, tools
        names: list[str] = []
        while len(names) < 5:
            if (name := next(deck)) not in names:
                names.append(name)
        # A single wording draws nothing: the examples of the first adapter stay what they were.
        worded = (
            rng.choices(wordings, k=len(names)) if len(wordings) > 1 else [wordings[0]] * len(names)
        )
        subjects = [
            Subject(name, split, rng, wording) for name, wording in zip(names, worded, strict=True)
        ]
        self._place: Place = "absent"
        if rng.random() > _ABSENT:
            self._place = rng.choices(list(_PLACES), list(_PLACES.values()))[0]
        self._summary = self._place == "summary" or (
            self._place == "absent" and rng.random() < _SUMMARY_WITHOUT
        )
        # How many of the three kinds that are asked about have their rule in force.
        self._ruled = 0 if self._place == "absent" else 2 if rng.random() < _TWO_RULES else 1
        asked = 3 if self._ruled != 1 else 2
        self._asked, self._others = subjects[:asked], subjects[3:]
        self._jobs = rng.sample(range(len(turns()["jobs"])), rng.choice((0, 0, 0, 1, 2)))
        self._org = rng.choice(frames()[work.LOCALE].org)

    def example(self) -> Example:
        questions = self._questions()
        messages = self._messages()
        used = {one.tool for one in messages}
        return Example(self._tools(used), tuple(messages), tuple(questions))

    def _questions(self) -> list[Question]:
        rng = self._rng
        in_force, free = self._asked[: self._ruled], self._asked[self._ruled :]
        found = list[Question]()
        for one in in_force:
            found += [self._question(one, True) for _ in range(_BREAKING[self._ruled])]
            found += [self._question(one, False) for _ in range(_KEEPING[self._ruled])]
        # Where no rule is about it, what would break one is asked as well.
        found += [self._question(one, True) for one in free for _ in range(_FREE[self._ruled])]
        if not in_force:
            found.append(self._question(free[0], False))
        return rng.sample(found, len(found))

    def _question(self, subject: Subject, breaks: bool) -> Question:
        asked = subject.ask(breaks)
        if subject not in self._asked[: self._ruled]:
            return Question(asked, "absent", declined=False)
        reason = self._rng.choice(_REASONS).format(rule=subject.rule) if breaks else ""
        return Question(asked, self._place, declined=breaks, reason=reason)

    def _messages(self) -> list[Said]:
        rng = self._rng
        stated = self._stated()
        given = {
            "early": lambda: self._stating(stated),
            "memory": lambda: self._stating(self._listed(stated)),
            "notice": lambda: self._notice(stated),
        }
        opening = [Said("system", self._fill(rng.choice(turns()["systems"])))]
        if self._place == "system":
            opening = [Said("system", f"{opening[0].text}\n\n{stated}")]
        preamble = rng.choice(turns()["preambles"])
        opening += [Said("user", self._fill(preamble[0]))]
        body = [self._done(self._asked[0].ask(breaks=False))]
        body += [self._worked(at) for at in self._jobs]
        if len(body) == 1 and (self._summary or rng.random() < 0.5):
            body.append(self._done(self._asked[1].ask(breaks=False)))
        rng.shuffle(body)
        if self._summary:
            told = self._summarized(body[:-1], stated if self._place == "summary" else "")
            return [*opening, told, *body[-1]]
        opening.append(Said("assistant", self._fill(preamble[1])))
        place = "early" if self._place == "repeated" else self._place
        if place in given:
            opening += given[place]()
        elif place == "absent":
            opening += rng.choice(list(given.values()))()
        if self._place in ("late", "repeated"):
            body.append(self._stating(self._stated()))
        if self._place == "middle":
            body.insert(rng.randint(1, len(body)), self._stating(stated))
        return [*opening, *(said for turn in body for said in turn)]

    def _stated(self) -> str:
        """The rules in force, or what stands in their place."""
        rng, around = self._rng, frames()[work.LOCALE]
        rules = [self._framed(one.rule) for one in self._asked[: self._ruled]]
        if not rules:
            rules = rng.sample(around.noise, 1)
        if rng.random() < _MORE_RULES:
            rules += [self._framed(one.rule) for one in self._others]
        return " ".join(rng.sample(rules, len(rules)))

    def _framed(self, rule: str) -> str:
        rng, around = self._rng, frames()[work.LOCALE]
        consequence = rng.choice(around.consequences).format(org=self._org)
        return rng.choice(around.frames).format(
            core=rule, org=self._org, noise=rng.choice(around.noise), consequence=consequence
        )

    def _stating(self, text: str) -> list[Said]:
        return [Said("user", text), Said("assistant", self._rng.choice(turns()["acknowledged"]))]

    def _listed(self, stated: str) -> str:
        rng = self._rng
        lines = [rng.choice(frames()[work.LOCALE].noise), stated]
        rows = "\n".join(f"- {line}" for line in rng.sample(lines, len(lines)))
        return f"{rng.choice(turns()['memories'])}\n{rows}"

    def _notice(self, stated: str) -> list[Said]:
        rng = self._rng
        noise = rng.choice(frames()[work.LOCALE].noise)
        return [
            Said("user", rng.choice(turns()["notice_asked"])),
            Said("assistant", "", "read_notice", {"place": "desk"}),
            Said("tool", f"# {rng.choice(turns()['headings'])}\n{noise}\n\n{stated}"),
            Said("assistant", rng.choice(turns()["notice_told"])),
        ]

    def _done(self, asked: Asked) -> list[Said]:
        rng, numbers = self._rng, work.numbers(self._rng)
        result = rng.choice(turns()["done"])
        for name, value in numbers.items():
            result = result.replace("{" + name + "}", value)
        closing = rng.choice(turns()["closings"]).format(**numbers)
        return [
            Said("user", asked.text),
            Said("assistant", "", asked.tool, asked.arguments),
            Said("tool", result),
            Said("assistant", closing),
        ]

    def _worked(self, at: int) -> list[Said]:
        done = work.job(at, self._rng)
        return [
            Said("user", done.asked.text),
            Said("assistant", "", done.asked.tool, done.asked.arguments),
            Said("tool", done.result),
            Said("assistant", done.reply),
        ]

    def _summarized(self, body: list[list[Said]], stated: str) -> Said:
        rng, told = self._rng, turns()["summaries"]
        parts = [self._fill(rng.choice(told["opening"]))]
        done = " ".join(f"'{turn[0].text}' {turn[-1].text}" for turn in body)
        middle = [rng.choice(told["doing"]).replace("{done}", done)]
        if stated:
            middle.append(rng.choice(told["ruling"]).replace("{rule}", stated))
        parts += rng.sample(middle, len(middle))
        if rng.random() < 0.5:
            parts.append(rng.choice(told["closing"]))
        return Said("user", "[Summary of the conversation so far]\n" + " ".join(parts))

    def _tools(self, used: set[str]) -> tuple[ToolSpec, ...]:
        """The tools of the requests and of the history, and some more; ``decline`` comes last."""
        rng = self._rng
        asked = [work.tool_of(one.name, self._split) for one in self._asked]
        others = [work.tool_of(name, self._split) for name in sorted(kinds(self._split))]
        others += [work.tool_of_job(at) for at in range(len(turns()["jobs"]))] + [work.NOTICE]
        others = [tool for tool in others if tool not in asked]
        specs = asked + [tool for tool in others if tool.name in used]
        spare = [tool for tool in others if tool.name not in used]
        more = max(self._least - len(specs) - 1, int(rng.random() < _MORE_TOOLS))
        specs += rng.sample(spare, min(more, len(spare)))
        return (*rng.sample(specs, len(specs)), work.DECLINE)

    def _fill(self, text: str) -> str:
        return text.format(org=self._org)


wording_option = click.option(
    "--wording",
    "wordings",
    type=click.Choice(WORDINGS),
    multiple=True,
    default=WORDINGS[:1],
    show_default=True,
    help="How rules are said; repeatable, drawn from those.",
)


@click.command()
@click.argument("split", type=click.Choice(["train", "held_out"]))
@click.option("--seed", default=1, show_default=True)
@click.option("--count", default=400, show_default=True)
@click.option("--tools", default=0, show_default=True, help="Least number of tools on offer.")
@wording_option
def main(split: Split, seed: int, count: int, tools: int, wordings: tuple[str, ...]) -> None:
    """Write examples, one a line."""
    click.echo("".join(map(to_line, examples(split, seed, count, tools, wordings))), nl=False)


if __name__ == "__main__":
    main()
