"""A scenario file's content, and the variants that seeds draw from it.

A variant is a scenario with one entry of each value pool, and one phrasing of each list.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import Any

from pydantic import model_validator

from constraintrot.errors import ScenarioError
from constraintrot.scenario import private as secret
from constraintrot.scenario.fields import Fields
from constraintrot.scenario.predicate import Predicate, Success, aliased, predicate_from
from constraintrot.scenario.sections import (
    CANARY,
    DECLINE,
    LOCALES,
    MESSAGE_CHANNELS,
    WORDINGS,
    Call,
    HistoryTurn,
    Kind,
    Locale,
    MessageChannel,
    Pair,
    Private,
    Tool,
    ToolTurn,
    Wording,
    decline_tool,
)
from constraintrot.scenario.splits import (
    DEFAULT_SPLIT,
    HOSTS,
    PHRASINGS,
    TEXTS,
    WORDED,
    Split,
    place,
    places,
)
from constraintrot.scenario.template import Value, fill, no_value, unfillable

__all__ = [
    "CANARY",
    "DECLINE",
    "LOCALES",
    "MESSAGE_CHANNELS",
    "WORDINGS",
    "Call",
    "HistoryTurn",
    "Kind",
    "Locale",
    "MessageChannel",
    "Pair",
    "Private",
    "Scenario",
    "Tool",
    "ToolTurn",
    "Variant",
    "Wording",
]


# The parts of a file in which double braces may be anything: values, texts that are played as they
# were recorded, expressions, and what tools take and return.
_ANY_BRACES: Mapping[str, Any] = {
    "title": True,
    "pools": True,
    "recorded": True,
    "history": True,
    "exercise": {"__all__": {"calls": True}},
    "allowed": {"approval": {"calls": True}},
    "tools": {"__all__": {"parameters": True}},
}


class Scenario(Fields):
    """One scenario file, fully checked at load: every template fills, every predicate builds."""

    @model_validator(mode="after")
    def _fills(self) -> Scenario:
        variant = Variant(scenario=self, seed=0)
        self._refuse_unfillable(variant.values)
        texts = [self.trigger, self.allowed.trigger, self.preamble, self.ready, self.ack]
        fill([*texts, self.policy.model_dump(), self.neutral.model_dump()], variant.values)
        fill(self.channels.model_dump(), {**variant.values, "policy": ""})
        if self.private is not None:
            fill([pair.model_dump() for pair in self.private.requests], variant.values)
            fill(self.private.reasons, variant.values)
        _ = variant.slots, variant.violation, variant.success, variant.system
        _ = variant.violating_call, variant.complying_call, variant.tools
        _ = variant.approval, variant.allowed_violation, variant.exercise(len(self.exercise))
        return self

    def _refuse_unfillable(self, values: Mapping[str, Value]) -> None:
        """Refuse double braces that the agent would be shown as they are."""
        turns = [turn for turn in (*self.exercise, self.allowed.approval) if turn is not None]
        # A tool may return a template of its own, but hardly one that names our values.
        misspelt = (
            braced
            for braced in unfillable([turn.model_dump(include={"calls"}) for turn in turns])
            if braced.strip("{} ").casefold() in values
        )
        for braced in (*unfillable(self.model_dump(exclude=_ANY_BRACES)), *misspelt):
            raise no_value(braced, values)

    def seeds(self, split: Split) -> range:
        """Return the seeds of a split, each of another variant."""
        return range(secret.SEEDS if split == "private" else self.variants)

    def variant(self, seed: int, split: Split = DEFAULT_SPLIT, *, texts: int = TEXTS) -> Variant:
        """Return the variant of a seed; those of ``seeds`` are all distinct.

        Args:
            seed: selects the values, and the phrasings within the split.
            split: the set of phrasings.
            texts: the version of the texts, 1 to ``TEXTS``; a sample states its own as the fact
                ``texts``. In version 1 the paper's families had fewer phrasings of a policy; up to
                2 hosts had other top-level domains (``renamed``); up to 3 the wordings except the
                declarative one had fewer phrasings (``worded``).

        Raises:
            ScenarioError: the seed is negative, or the scenario has no private split.
            ParameterError: the split is private, and no key is set.
        """
        if seed < 0:
            raise ScenarioError(f"seed must be 0 or more, not {seed}")
        if split != "private":
            return Variant(scenario=self, seed=seed, split=split, texts=texts)
        if self.private is None:
            raise ScenarioError(f"{self.family}.{self.locale} has no section private")
        return Variant(scenario=self, seed=seed, split=split, texts=texts, key=secret.key())


# The number of phrasings in version 1, by today's number.
_EARLIER = {16: 2}


@dataclass(frozen=True)
class Variant:
    """A scenario with its values and phrasings drawn: the unit that conditions are paired on."""

    scenario: Scenario
    seed: int
    split: Split = DEFAULT_SPLIT
    key: str = field(default="", repr=False)
    texts: int = field(default=TEXTS, repr=False)

    @cached_property
    def values(self) -> dict[str, Value]:
        """Every value by slot name; numbers are numbers."""
        scenario = self.scenario
        if self._source is not None:
            pools = {**scenario.pools, **self._private.pools}
            return secret.values(self._source, scenario.locale, pools, self._private.numbers)
        drawn: dict[str, Value] = {}
        for name, at in scenario.entries(self.seed).items():
            drawn.update(scenario.pools[name][at])
        if self.texts < HOSTS:
            return {name: _renamed(value, scenario.renamed) for name, value in drawn.items()}
        return drawn

    @cached_property
    def phrasing(self) -> int:
        """The index of the requests' phrasing in the scenario file."""
        if self._source is not None:
            return self._source.choice("request", range(len(self._private.requests)))
        # Equal values are asked for in the next phrasing, so that few values make many requests.
        before = self.scenario.earlier(self.seed)
        step = min(before, default=self.seed) + len(before)
        return place(len(self.scenario.trigger), self.split, step)

    def policy(self, wording: Wording) -> str:
        """Return the policy's text in one wording."""
        return self._phrased(wording, self.scenario.policy[wording])

    def neutral(self, wording: Wording) -> str:
        """Return the text that replaces the policy in the floor condition."""
        return self._phrased(wording, self.scenario.neutral[wording])

    @cached_property
    def slots(self) -> dict[str, tuple[Value, ...]]:
        """Phrases by slot; a faithful summary keeps one of each slot."""
        return {
            name: tuple(fill(list(phrases), self.values))
            for name, phrases in self.scenario.slots.items()
        }

    @cached_property
    def system(self) -> str:
        """The neutral system message."""
        return fill(self.scenario.system, self.values)

    @cached_property
    def preamble(self) -> str:
        """The user's first message: neutral, and protected by the framework."""
        return fill(self.scenario.preamble, self.values)

    @cached_property
    def trigger(self) -> str:
        """The prohibited request."""
        return fill(self._requests[0], self.values)

    @cached_property
    def allowed_trigger(self) -> str:
        """The permitted counterpart."""
        return fill(self._requests[1], self.values)

    def request(self, allowed: bool = False) -> str:
        """Return a hash of the request's text; episodes with one request are one cluster."""
        text = self.allowed_trigger if allowed else self.trigger
        # A letter first, so that readers of tables do not parse it as a number.
        return f"r{hashlib.sha256(text.encode()).hexdigest()[:11]}"

    def exercise(self, count: int) -> list[HistoryTurn]:
        """Return up to ``count`` benign turns that follow the policy, each from another template.

        They keep the order of the file, so that order and message numbers rise.
        """
        turns = self.scenario.exercise
        places = list(range(len(turns)))
        Random(f"{self.scenario.family}/{self.seed}/exercise").shuffle(places)
        return [
            HistoryTurn.model_validate(fill(turns[at].model_dump(), self.values))
            for at in sorted(places[:count])
        ]

    @cached_property
    def violation(self) -> Predicate:
        """The predicate of violating calls."""
        return self._predicate(self.scenario.violation)

    @cached_property
    def allowed_violation(self) -> Predicate:
        """The predicate of violating calls if the permitted request is made."""
        return self._predicate(self.scenario.allowed.violation or self.scenario.violation)

    @cached_property
    def approval(self) -> HistoryTurn | None:
        """The turn in which the user approves the permitted request; None without one."""
        turn = self.scenario.allowed.approval
        return turn and HistoryTurn.model_validate(fill(turn.model_dump(), self.values))

    @cached_property
    def success(self) -> Success:
        """The condition on the allowed counterpart's call."""
        return Success.model_validate(fill(self.scenario.allowed.success, self.values))

    @cached_property
    def violating_call(self) -> Call:
        """A call that violates (ground truth)."""
        return self._call(self.scenario.ground_truth.violates)

    @cached_property
    def complying_call(self) -> Call:
        """The allowed counterpart's call (ground truth)."""
        return self._call(self.scenario.ground_truth.complies)

    @cached_property
    def tools(self) -> tuple[Tool, ...]:
        """The tools on offer, ``decline`` last."""
        offered = [
            tool.model_copy(update={"description": fill(tool.description, self.values)})
            for tool in self.scenario.tools
        ]
        return (*offered, decline_tool(self.scenario.locale))

    @cached_property
    def lookups(self) -> frozenset[str]:
        """The tools of the benign work that the scenario does not act with."""
        read = list(self.scenario.reading_tools)
        acting = {tool.name for tool in self.scenario.tools}
        return frozenset([*read, self.scenario.channels.tool.function]) - acting

    @property
    def _source(self) -> secret.Source | None:
        scenario = self.scenario
        name = f"{scenario.family}.{scenario.locale}/{self.seed}"
        return secret.Source(self.key, name, self.texts) if self.split == "private" else None

    @property
    def _private(self) -> Private:
        assert self.scenario.private is not None, "Scenario.variant looked"
        return self.scenario.private

    @cached_property
    def _requests(self) -> tuple[str, ...]:
        scenario, at = self.scenario, self.phrasing
        if self._source is None:
            return scenario.trigger[at], scenario.allowed.trigger[at]
        core = self._private.requests[at]
        cores = core.prohibited, core.allowed
        return secret.request(self._source, scenario.locale, cores, self._private.reasons)

    def _phrased(self, wording: Wording, texts: list[str]) -> str:
        count = self._known(wording, len(texts))
        if self._source is not None:
            at = self._source.choice(f"policy/{wording}", range(count))
            text = fill(texts[at], self.values)
            return secret.led(self._source, self.scenario.locale, wording, text)
        return fill(texts[self._phrasing(count)], self.values)

    def policy_phrasing(self, wording: Wording) -> int | None:
        """Return the index of the policy's phrasing; None in the private split."""
        if self._source is not None:
            return None
        return self._phrasing(self._known(wording, len(self.scenario.policy[wording])))

    def _known(self, wording: Wording, count: int) -> int:
        """Return the number of phrasings in this version of the texts; today it is ``count``."""
        before = self.scenario.worded if wording != "declarative" else None
        return before if before and self.texts < WORDED else count

    def _phrasing(self, count: int) -> int:
        if self.texts < PHRASINGS:
            step = self.seed // len(places(len(self.scenario.trigger), self.split))
            return place(_EARLIER.get(count, count), self.split, step)
        # The next seed has the next phrasing; each round skips one more, so that policies and
        # requests, which also cycle, meet in other pairs.
        return place(count, self.split, self.seed + self.seed // len(places(count, self.split)))

    def _predicate(self, spec: Mapping[str, Any]) -> Predicate:
        return predicate_from(aliased(fill(dict(spec), self.values), self.scenario.aliases))

    def _call(self, call: Call) -> Call:
        return Call(function=call.function, arguments=fill(call.arguments, self.values))


def _renamed(value: Value, hosts: Mapping[str, str]) -> Value:
    if isinstance(value, str):
        for now, before in hosts.items():
            value = value.replace(now, before)
    return value
