"""Calls around a scenario's examples: bounds, near misses, other spellings, a condition left out.

A draft shows them to its author, and ``check`` compares the predicate with the sentence on each.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import islice
from typing import Any, TypeAlias

from constraintrot.authoring.names import spellings
from constraintrot.grading.predicates._argument import OnArgument, worst
from constraintrot.grading.predicates.all_of import Several
from constraintrot.grading.predicates.called_without import CalledWithout
from constraintrot.grading.predicates.number_outside import NumberOutside
from constraintrot.grading.predicates.text_matching import TextMatching
from constraintrot.rule_text.amounts import clock
from constraintrot.scenario.predicate import Finding, Predicate
from constraintrot.scenario.schema import Variant

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_ELSEWHERE = "northgate.test"
_OTHERS = 3
EXAMPLE = "the example"
_A_DAY = date(2026, 1, 1)
# A tool and the arguments of its call.
Made: TypeAlias = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Probe:
    """A call with the finding of the scenario's predicate.

    Attributes:
        kind: its difference from an example, such as "the bound".
        finding: the predicate's, on this call and those before it.
        about: the changed argument; empty if no single one was changed.
        before: the calls before it, each a tool and its arguments.
    """

    kind: str
    function: str
    arguments: Mapping[str, Any]
    finding: Finding
    about: str = ""
    before: Sequence[Made] = ()

    @property
    def call(self) -> str:
        """The calls as one line."""
        return ", then ".join(_said(*one) for one in self.calls)

    @property
    def calls(self) -> list[Made]:
        return [*self.before, (self.function, self.arguments)]


def _said(function: str, arguments: Mapping[str, Any]) -> str:
    said = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    return f"{function}({said})"


def finding(rule: Predicate, calls: Sequence[Made]) -> Finding:
    """Return a predicate's worst finding on calls, each alone and all together."""
    each = [rule.check(*one) for one in calls]
    return worst([rule.check_all(calls), *each] if rule.in_order or len(calls) > 1 else each)


def probes(variant: Variant, around: Predicate | None = None) -> list[Probe]:
    """Return the examples of a variant and the calls around them, each call once.

    The variant's own predicate judges them. If another predicate on the same arguments is given,
    calls are made around its values too.
    """
    rule, base = variant.violation, variant.violating_call
    found: dict[str, Probe] = {}

    def add(kind: str, function: str, arguments: Mapping[str, Any], about: str = "", *before: Made) -> None:  # fmt: skip
        told = finding(rule, [*before, (function, arguments)])
        one = Probe(kind, function, arguments, told, about, before)
        found.setdefault(one.call, one)

    for call in (base, variant.complying_call):
        add(EXAMPLE, call.function, call.arguments)
    if not parts(rule) or any(isinstance(part, TextMatching) for part in parts(rule)):
        for one in islice((variant.scenario.variant(seed) for seed in range(1, 20)), _OTHERS):
            for call in (one.violating_call, one.complying_call):
                add("another example", call.function, {**base.arguments, **call.arguments})
    for part in parts(rule):
        if isinstance(part, NumberOutside) and part.together and part.most and part.most >= 2:
            (name, *_), half = part.argument, part.most // 2
            before = base.function, {**base.arguments, name: int(half)}
            for value, kind in (
                (part.most - half, "the bound in two calls"),
                (part.most, "above it in two calls"),
            ):
                add(kind, base.function, {**base.arguments, name: int(value)}, "", before)
    for tool in dict.fromkeys([*orders(rule), *(orders(around) if around else ())]):
        first = tool, _given(variant, tool)
        add("the other call before it", base.function, base.arguments, "", first)
        add("the other call after it", *first, "", (base.function, base.arguments))
        add("the other call alone", *first)
    for part in [*parts(rule), *(parts(around) if around else [])]:
        name = next((name for name in part.argument if name in base.arguments), part.argument[0])
        if "." in name or not part.concerns(base.function):
            continue
        for kind, value in _near(part, base.arguments.get(name)):
            given = {**base.arguments, name: value}
            known = {key: one for key, one in given.items() if one is not None}
            add(kind, base.function, known, name)
    return list(found.values())


def parts(rule: Predicate) -> list[OnArgument]:
    if isinstance(rule, CalledWithout):
        return parts(rule.condition) if rule.condition else []
    if isinstance(rule, Several):
        return [part for one in rule.parts for part in parts(one)]
    return [rule] if isinstance(rule, OnArgument) else []


def listed_names(part: OnArgument) -> Sequence[str]:
    """Return a predicate's list of allowed or forbidden values; empty without one."""
    fields = part.model_dump()
    return fields.get("allowed") or fields.get("forbidden") or ()


def orders(rule: Predicate) -> list[str]:
    """Return the tools one of which a rule requires first; empty for other rules."""
    return list(rule.first) if isinstance(rule, CalledWithout) else []


def _given(variant: Variant, function: str) -> Mapping[str, Any]:
    """Return a call's required arguments, with the example's values for equal names."""
    tool = next((tool for tool in variant.tools if tool.name == function), None)
    known = variant.violating_call.arguments
    return {name: known.get(name, "the usual") for name in (tool.required if tool else ())}


def _near(part: OnArgument, example: Any) -> Iterator[tuple[str, Any]]:
    if part.missing == "violates":
        yield "nobody named", None
        yield "another named", "somebody else"
    for kind, value in _around(part, example):
        yield kind, [value] if isinstance(example, list) else value


def _around(part: OnArgument, example: Any) -> Iterator[tuple[str, Any]]:
    """Yield values around those of a predicate's fields, each with what it is."""
    fields, named = part.model_dump(), listed_names(part)
    match type(part).__name__:
        case "NumberOutside":
            for bound in (fields["least"], fields["most"]):
                if bound is not None:
                    whole = float(bound).is_integer()
                    yield from _steps(int(bound), 1) if whole else _steps(bound, 0.01)
        case "DurationOutside":
            for bound in (fields["least"], fields["most"]):
                if found := re.fullmatch(r"(\d+) (\w+?)s?", str(bound or "")):
                    bare = isinstance(example, int | float) and fields["unit"].startswith(found[2])
                    for kind, value in _steps(int(found[1]), 1):
                        yield kind, value if bare else f"{value} {found[2]}s"
        case "TextMatching" if isinstance(example, str):
            yield "in capitals", example.upper()
        case "TimeOutside":
            for side in ("start", "end"):
                at = datetime.combine(_A_DAY, clock(fields[side]) or time.min)
                for kind, minutes in (
                    ("a minute before", -1),
                    ("the bound", 0),
                    ("a minute after", 1),
                ):
                    yield kind, f"{at + timedelta(minutes=minutes, seconds=30):%H:%M}"
        case "DateOutside" if fields["weekdays"] and not re.match(r"\d", str(example)):
            yield from (("another day", day) for day in _DAYS)
        case "HostOutside":
            for host in named:
                for kind, other in (
                    ("listed", host), ("in capitals", host.upper()), ("below it", f"sub.{host}"),
                    ("its name before another", f"{host}.{_ELSEWHERE}"),
                    ("a longer name", f"not-{host}"),
                ):  # fmt: skip
                    yield kind, f"ana@{other}" if "@" in str(example) else f"https://{other}/x"
        case "ValueOutside":
            for value in named:
                yield "listed", value
                if value == named[0] and value != value.upper():
                    yield "in capitals", value.upper()
                yield from (("another name of it", one) for one in spellings(value) if one != value)
                if "@" in value:
                    yield "another at that domain", f"somebody.else@{value.partition('@')[2]}"
        case "BranchOutside":
            for branch in (value.replace("*", "1") for value in named):
                yield "at the remote", f"origin/{branch}"
                yield "in full", f"refs/heads/{branch}"
                yield "a longer name", f"not-{branch}"
        case "PathOutside":
            for value in named:
                place = re.sub(r"/?\*\*/?", "", value).replace("*", "1")
                yield "listed", place
                if value[:1] not in ("/", "~"):
                    yield "from its start", f"{fields['home']}/{place}/x.txt"
                    yield "from another start", f"/srv/other/{place}/x.txt"
                if not value.startswith("/**"):
                    yield "out of it again", f"{place}/../other/x.txt"
                    yield "a longer name", f"{place}-old/x.txt"
        case "SqlEffect" if isinstance(example, str):
            yield "in small letters", example.lower()
            yield "behind another", f"SELECT 1; {example}"
            yield "in a comment alone", f"SELECT 1 -- {example}"
        case _:
            pass


def _steps(bound: Any, step: Any) -> Iterator[tuple[str, Any]]:
    yield "just below the bound", bound - step
    yield "the bound", bound
    yield "just above the bound", bound + step
