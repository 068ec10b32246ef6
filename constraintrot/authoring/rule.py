"""The rule of a sentence, for a draft: its predicate, its values, and their words in requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from constraintrot.scenario.template import Value

# Kinds of conditions whose values are numbers.
NUMERIC = ("a span of time", "an amount", "a number")
_JOBS = ("A-2114", "B-3307", "C-1852", "D-4490", "E-2731")


@dataclass(frozen=True)
class Extra:
    """A further argument that a rule depends on, such as the approver.

    Attributes:
        predicate: finds the values with which the rule still forbids the call.
        given: its value in every call of the draft; None if the calls omit it.
        phrases: phrases of its slot, which has the argument's name.
    """

    argument: str
    schema: Mapping[str, Any]
    predicate: Mapping[str, Any]
    given: Value | None = None
    phrases: Sequence[Value] = ()


@dataclass(frozen=True)
class Rule:
    """A sentence's condition as a predicate, with values for requests.

    Attributes:
        kind: the kind of condition, for messages: "a span of time"; empty if unrecognised.
        predicate: as under ``violation``; the argument's name is filled in later.
        says: a clause by which a request says the value ``{value}``.
        wrong: values that the policy forbids; empty if unknown.
        right: as many values that it allows.
        start: start of the condition in the sentence's phrase.
        written: the condition's value in the sentence, and the placeholder that replaces it;
            None if the value is in requests too.
        phrases: phrases of the value's slot.
        action: the act that requests ask for, if it is not in the sentence.
        extras: further arguments that the rule depends on.
        either: whether one condition is enough to forbid; else all must hold.
        asks: words of requests for forbidden values that they cannot state.
        system: a line that the rule adds to the system message.
        other: the permitted act if the act itself is forbidden, from its verb on.
        first: the act required before a call that the conditions forbid, from its verb on.
        open: the unsure parts, each as a question to the author.
    """

    kind: str
    predicate: Mapping[str, Any]
    argument: str
    schema: Mapping[str, Any]
    says: str
    wrong: Sequence[Value]
    right: Sequence[Value]
    start: int
    end: int
    written: tuple[str, str] | None = None
    values: Mapping[str, Value] = field(default_factory=dict[str, Value])
    phrases: Sequence[Value] = ()
    action: str = ""
    extras: Sequence[Extra] = ()
    either: bool = False
    asks: Sequence[Value] = ()
    system: str = ""
    other: str = ""
    first: str = ""
    aliases: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    open: Sequence[str] = ()

    def moved(self, by: int) -> Rule:
        return replace(self, start=self.start + by, end=self.end + by)


def alone() -> Rule:
    """Return the rule on an act itself, whatever its arguments; requests differ by job."""
    return replace(
        unknown(()),
        kind="an order of calls",
        argument="job",
        schema={"type": "string", "description": "Number of the job."},
        says="the job is {value}",
        wrong=_JOBS,
        right=_JOBS,
    )


def unknown(words: Sequence[Value]) -> Rule:
    """Return the rule of an unrecognised sentence, for its author to fill in.

    A summary must keep one of the sentence's own ``words``.
    """
    return Rule(
        kind="",
        predicate={},
        argument="value",
        schema={"type": "string", "description": "What it is about."},
        says="the value is {value}",
        wrong=[],
        right=[],
        start=10_000,
        end=10_000,
        phrases=words,
    )
