"""The fields of a scenario file, and the checks that hold for every seed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, model_validator

from constraintrot.scenario.sections import (
    Allowed,
    Channels,
    GroundTruth,
    HistoryTurn,
    Kind,
    Locale,
    Phrasings,
    Private,
    Scalar,
    Section,
    Text,
    Texts,
    Tool,
)
from constraintrot.scenario.template import Value, names
from constraintrot.scenario.topic import Topic, TopicTool, check_stocked, stocked

Pools: TypeAlias = Mapping[str, Sequence[Mapping[str, Value]]]


class Fields(Section):
    """A scenario file's content, checked for consistency."""

    canary: Literal["constraintrot-canary-5b0d6a1e-7f0c-4a52-9d6e-3c1f0e8a94b7"]
    family: Text
    kind: Kind
    locale: Locale
    title: Text
    pools: dict[str, Annotated[list[dict[str, Scalar]], Field(min_length=1)]]
    renamed: Annotated[dict[Text, Text], Field(default_factory=dict[str, str])]
    worded: Annotated[int, Field(ge=1)] | None = None
    system: Text
    preamble: Text
    ready: Text
    policy: Texts
    neutral: Texts
    channels: Channels
    ack: Text
    slots: Annotated[dict[str, Annotated[list[Scalar], Field(min_length=1)]], Field(min_length=3)]
    trigger: Phrasings
    allowed: Allowed
    exercise: Annotated[list[HistoryTurn], Field(default_factory=list[HistoryTurn])]
    private: Private | None = None
    tools: Annotated[list[Tool], Field(min_length=1)]
    violation: dict[str, Any]
    aliases: Annotated[dict[str, list[Text]], Field(default_factory=dict[str, list[Text]])]
    ground_truth: GroundTruth
    topics: Annotated[list[Text], Field(default_factory=list[Text])]
    history: Topic | None = None
    recorded: Annotated[list[HistoryTurn], Field(default_factory=list[HistoryTurn])]
    session: Annotated[str, Field(max_length=100)] = ""

    @model_validator(mode="after")
    def _fits(self) -> Fields:
        drawn = self.private.pools if self.private else {}
        self._check_history()
        for pool, entries in self.pools.items():
            if len({frozenset(entry) for entry in [*entries, *drawn.get(pool, [])]}) != 1:
                raise ValueError(f"the entries of pool {pool!r} do not all give the same names")
        if further := sorted(set(drawn) - set(self.pools)):
            raise ValueError(f"private.pools has {further[0]!r}, which is not among pools")
        offered = {tool.name for tool in self.tools}
        truth = self.ground_truth
        for function in (
            truth.violates.function,
            truth.complies.function,
            self.allowed.success.get("function"),
        ):
            if function not in offered:
                raise ValueError(f"calls {function!r}, which is not among tools: {sorted(offered)}")
        self._check_phrasings()
        return self

    def _check_phrasings(self) -> None:
        one, other = len(self.trigger), len(self.allowed.trigger)
        if one != other:
            raise ValueError(
                f"allowed.trigger has {other} phrasings, and trigger, which it is paired with, {one}"
            )

    def _check_history(self) -> None:
        given = [bool(self.topics), self.history is not None, bool(self.recorded)]
        if sum(given) != 1:
            raise ValueError("a scenario has topics, a history of its own or a recorded one")
        check_stocked(self.locale, self.topics)
        if self.history is not None:
            names = {name for entries in self.pools.values() for name in entries[0]}
            self.history.compile(self.locale, {*names, "today"})

    @property
    def work(self) -> dict[str, Topic]:
        """The history's topics by name: from the stock, or the scenario's own."""
        if self.history is not None:
            return {"history": self.history}
        return {name: stocked(self.locale, name) for name in self.topics}

    @cached_property
    def reading_tools(self) -> dict[str, TopicTool]:
        """The tools of the benign work, by name; recorded ones as their calls show them."""
        found = {tool.name: tool for topic in self.work.values() for tool in topic.tools}
        for call in (call for turn in self.recorded for call in turn.calls):
            known = found[call.function].properties if call.function in found else {}
            names = dict.fromkeys([*known, *call.arguments])
            found[call.function] = TopicTool(
                name=call.function,
                description="A tool of the recorded session.",
                parameters={"type": "object", "properties": {name: {} for name in names}},
                missing="Nothing was found.",
            )
        return found

    @property
    def task(self) -> str:
        return self.family

    @cached_property
    def variants(self) -> int:
        return math.prod(len(pool) for pool in self.pools.values())

    @cached_property
    def stride(self) -> int:
        """The step between the combinations of neighbouring seeds.

        It is coprime to their number, so that it reaches all combinations, and near the golden
        ratio, so that neighbours differ in every pool.
        """
        step = max(1, round(self.variants * 0.618034))
        while math.gcd(step, self.variants) != 1:
            step += 1
        return step

    def entries(self, seed: int) -> dict[str, int]:
        """By pool, which of its entries a seed has."""
        index = seed * self.stride % self.variants
        drawn: dict[str, int] = {}
        for name, pool in self.pools.items():
            index, drawn[name] = divmod(index, len(pool))
        return drawn

    def earlier(self, seed: int) -> list[int]:
        """Return the lower seeds whose requests hold the same values."""
        wanted = names([self.trigger, self.allowed.trigger])
        telling = [name for name, pool in self.pools.items() if wanted & set(pool[0])]

        def drawn(at: int) -> list[int]:
            found = self.entries(at)
            return [found[name] for name in telling]

        mine = drawn(seed)
        return [other for other in range(seed) if drawn(other) == mine]
