"""The rule of a sentence as a draft needs it: its predicate, its values, how requests say them."""

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
    """A further argument that a rule depends on, such as who approved.

    Attributes:
        argument: its name, if no tool says another.
        schema: its JSON schema, description included.
        predicate: finds the values with which the rule still forbids.
        given: its value in every call of the draft; None if the calls leave it out.
        phrases: of the slot that keeps it, which has the argument's name.
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
        kind: what the condition is about, for messages: "a span of time"; empty where it is
            not recognised.
        predicate: as under ``violation``; the argument's name is filled in later.
        argument: the argument's name, if no tool says another.
        schema: the argument's JSON schema, description included.
        says: a clause by which a request says the value ``{value}``.
        wrong: values that the policy forbids; none where nobody knows them.
        right: as many that it allows.
        start: where in the sentence's phrase the condition begins.
        end: where it ends.
        written: the condition's value as the sentence writes it, and the placeholder
            that takes its place; none where the value stands in requests too.
        values: what the placeholders give.
        phrases: of the slot that holds the value.
        action: what requests ask for, where it is not in the sentence.
        extras: further arguments that the rule depends on.
        either: whether one of the conditions is enough to forbid; all must hold without.
        asks: how requests say the forbidden values, where they cannot say them themselves.
        system: a line that the system message has for the rule's sake.
        other: what requests ask for in place of an act that is forbidden as such, from its verb on.
        first: what has to be done before a call that the conditions forbid, from its verb on.
        aliases: other names of values, which mean the same.
        open: what is not understood for sure, each as a question to the author.
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
        """Return the rule with its place in the phrase so much further on."""
        return replace(self, start=self.start + by, end=self.end + by)


def alone() -> Rule:
    """Return the rule on an act as such, whatever its arguments; its requests differ by their job."""
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
    """Return the rule of a sentence whose condition is not recognised, for its author to fill in.

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
