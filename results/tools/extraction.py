"""Precision and recall of the extraction rules: ``python -m results.tools.extraction``.

The rules were written with the families of ``SEEN`` and the even entries of
benign.yaml and others.yaml in view, of these families the phrasings of the split
``tuning``; the rest is held out: it was run after they were frozen, and no cue was
changed by it. The held-out families were not read before, and the phrasings of the
split ``held_out`` are younger than the rules; the held-out entries were written
together with the others, by the author of the rules, so their figures flatter. All
are for constraints worded with care.

Seeds change only names and amounts, and channels only the frame, so neither is a
separate case: a text counts as good if it is good under all of them.

- recall: of the policy texts (family, locale, wording, split, phrasing), those of which one span
  found in their message holds all slots.
- exact: that span is the policy and nothing else.
- precision: of the spans found in staged episodes, those that overlap the
  policy; all spans in one policy are one, every other distinct span counts.
  Episodes are read whole: opening, policy, history, both triggers.
- recall_others, exact_others: the rules of others.yaml, whole, in their turns.
- false_alarm: share of the turns without a policy from which something was extracted:
  the neutral texts of the floor condition, its other distinct messages, the
  scaffolds' instructions (seen: quoted JSON is blanked out because of them), and
  benign.yaml (of which tool outputs are read too).

The role ``tool`` is not read by default, so a policy in a tool result is not extracted,
by design. The measures ``..._tool_read`` are of an extractor that reads it.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from constraintrot.episode.episode import Episode
from constraintrot.episode.scaffold.instructions import Scaffold, instructions
from constraintrot.episode.staging import stage
from constraintrot.report.tables import Table
from constraintrot.rule_text.extraction import TRUSTED, Extractor, Match, Role, Said, rules
from constraintrot.rule_text.survival import mentions
from constraintrot.scenario.files import catalogue, load
from constraintrot.scenario.schema import (
    MESSAGE_CHANNELS,
    WORDINGS,
    Locale,
    Scenario,
    Variant,
    Wording,
)
from constraintrot.scenario.splits import Split
from constraintrot.stats.interval import Interval
from constraintrot.stats.rate import clopper_pearson

# German came after the committed table, and has no sentences of other subjects yet.
LOCALES: tuple[Locale, ...] = ("en", "zh", "es")
SEEN = frozenset({"soft_email", "soft_spend", "soft_language", "hard_proddb"})
SEEDS = (0, 1, 2)
EVERYBODY: tuple[Role, ...] = ("system", "user", "assistant", "tool")
FOLDER = Path(__file__).parent
COLUMNS: tuple[str, ...] = (
    "part",
    "measure",
    "by",
    "value",
    "k",
    "n",
    "estimate",
    "lower",
    "upper",
)
PHRASED: tuple[Split, ...] = ("tuning", "held_out")
SCAFFOLDS: tuple[Scaffold, ...] = ("direct", "deliberate")
ALARM = "false_alarm"

Key: TypeAlias = tuple[str, str, str, str]
Groups: TypeAlias = Mapping[str, str]


@dataclass(frozen=True)
class Case:
    """One observation of a measure.

    Attributes:
        measure: name of the measure.
        unit: id of what is counted; several cases of one unit count once.
        good: whether the extractor did the right thing.
        seen: whether the rules were developed on it.
        groups: values by which rates are also given.
    """

    measure: str
    unit: str
    good: bool
    seen: bool
    groups: Groups


def measure(seeds: Sequence[int] = SEEDS) -> dict[Key, Interval]:
    """All rates, by part (seen, held_out, all), measure, grouping and the grouping's value."""
    return _rates([*_episodes(seeds), *_floor(seeds), *_scaffolds(), *_benign(), *_others()])


def _rates(cases: Iterable[Case]) -> dict[Key, Interval]:
    """Rates over units; a unit is good if all its cases are, and a false alarm if one is not."""
    units: dict[Key, dict[str, bool]] = defaultdict(dict)
    for case in cases:
        for part in ("all", "seen" if case.seen else "held_out"):
            for by, value in [("all", "all"), *case.groups.items()]:
                good = units[part, case.measure, by, value]
                good[case.unit] = good.get(case.unit, True) and case.good
    rates: dict[Key, Interval] = {}
    for key, good in sorted(units.items()):
        hits = sum(good.values())
        rate = clopper_pearson(len(good) - hits if key[1].startswith(ALARM) else hits, len(good))
        assert isinstance(rate, Interval), "every group has a unit"
        rates[key] = rate
    return rates


def _episodes(seeds: Sequence[int]) -> Iterator[Case]:
    """Cases of episodes with a policy: recall, exactness and precision."""
    for scenario, wording, channel in product(_scenarios(), WORDINGS, MESSAGE_CHANNELS):
        for split, seed in product(PHRASED, seeds):
            yield from _found_in(scenario.variant(seed, split), wording, channel)


def _found_in(variant: Variant, wording: Wording, channel: str) -> Iterator[Case]:
    scenario, split = variant.scenario, variant.split
    episode = stage(variant, policy=True, wording=wording, channel=channel, exercised=2)
    messages = _messages(episode)
    at = next(i for i, one in enumerate(messages) if episode.policy in one.text)
    spans = run(rules(sources=(*TRUSTED, "tool") if channel == "tool" else TRUSTED), messages)
    in_policy_turn = [span.text for span in spans if span.at == at]
    suffix = "_tool_read" if channel == "tool" else ""
    groups = _groups(scenario) | {"wording": wording, "channel": channel, "split": split}
    unit = f"{scenario.family}.{scenario.locale}.{_phrased(variant, wording)}"
    seen = scenario.family in SEEN and split == "tuning"
    yield Case(f"recall{suffix}", unit, _kept(in_policy_turn, episode), seen, groups)
    yield Case(f"exact{suffix}", unit, in_policy_turn == [episode.policy], seen, groups)
    for one in spans:
        meets = one.at == at and _overlap(messages[at].text, one.text, episode.policy)
        span = unit if meets else f"{unit} {one.text}"
        yield Case(f"precision{suffix}", span, meets, seen, groups)


def _phrased(variant: Variant, wording: Wording) -> str:
    """Name a policy, or the neutral text in its place, among those of its scenario."""
    return f"{wording}.{variant.split}.{variant.policy_phrasing(wording)}"


def _floor(seeds: Sequence[int]) -> Iterator[Case]:
    """Cases of episodes without a policy: the neutral turn, and all other messages that are read."""
    read: tuple[str, ...] = ("user", "memory", "system")
    for scenario, wording, channel in product(_scenarios(), WORDINGS, read):
        for split, seed in product(PHRASED, seeds):
            yield from _alarmed(scenario.variant(seed, split), wording, channel)


def _alarmed(variant: Variant, wording: Wording, channel: str) -> Iterator[Case]:
    scenario, split = variant.scenario, variant.split
    episode = stage(variant, policy=False, wording=wording, channel=channel, exercised=2)
    messages = _messages(episode)
    alarms = {one.at for one in run(rules(), messages)}
    name = f"{scenario.family}.{scenario.locale}"
    seen = scenario.family in SEEN and split == "tuning"
    for at, message in enumerate(messages):
        neutral = variant.neutral(wording) in message.text
        kind = "neutral" if neutral else "message"
        unit = f"{name} {_phrased(variant, wording) if neutral else message.text}"
        if message.role in TRUSTED:
            yield Case(f"{ALARM}_{kind}", unit, at not in alarms, seen, _groups(scenario))


def _scaffolds() -> Iterator[Case]:
    """What a scaffold appends to the request; it sets a form, not a policy."""
    for locale, scaffold, native in product(LOCALES, SCAFFOLDS, (False, True)):
        text = instructions(scaffold, locale, native=native)
        found = run(rules(), [Said("user", text)])
        yield Case(f"{ALARM}_scaffold", text, not found, True, {"locale": locale})


def _benign() -> Iterator[Case]:
    for locale in LOCALES:
        for kind, texts in data("benign")[locale].items():
            for at, text in enumerate(texts):
                role: Role = "tool" if kind == "tool" else "user"
                spans = run(rules(sources=EVERYBODY), [Said(role, text)])
                groups = {"locale": locale, "kind": kind}
                yield Case(f"{ALARM}_benign", text, not spans, at % 2 == 0, groups)


def _others() -> Iterator[Case]:
    for locale in LOCALES:
        for wording, texts in data("others")[locale].items():
            for at, text in enumerate(texts):
                before, _, rest = text.partition("[[")
                rule, _, after = rest.partition("]]")
                spans = [one.text for one in run(rules(), [Said("user", before + rule + after)])]
                groups = {"locale": locale, "wording": wording}
                whole = any(rule in one for one in spans)
                yield Case("recall_others", text, whole, at % 2 == 0, groups)
                yield Case("exact_others", text, spans == [rule], at % 2 == 0, groups)


def _scenarios() -> Iterator[Scenario]:
    for family, locales in catalogue().items():
        yield from (load(family, locale) for locale in locales if locale in LOCALES)


def _groups(scenario: Scenario) -> dict[str, str]:
    return {"locale": scenario.locale, "family": scenario.family}


def _messages(episode: Episode) -> list[Said]:
    """The messages of an episode, and the allowed request."""
    staged = [Said(one.role, one.text) for turn in episode.turns for one in turn.messages]
    return [*staged, Said("user", episode.variant.allowed_trigger)]


def _kept(spans: Iterable[str], episode: Episode) -> bool:
    return mentions(spans, episode.policy, episode.variant.slots).kept


def _overlap(text: str, span: str, policy: str) -> bool:
    start, from_ = text.index(span), text.index(policy)
    return start < from_ + len(policy) and from_ < start + len(span)


def run(extractor: Extractor, messages: Sequence[Said]) -> tuple[Match, ...]:
    """Run an extractor; there must be no running event loop."""

    async def go() -> tuple[Match, ...]:
        return await extractor(messages)

    return asyncio.run(go())


@cache
def data(name: str) -> dict[str, Any]:
    """A committed data set, ``benign`` or ``others``: texts by locale and kind."""
    return dict(yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8")))


def rows(rates: Mapping[Key, Interval]) -> list[dict[str, str]]:
    """The rates as rows of a CSV file."""
    return [
        dict(zip(COLUMNS, (*key, *map(str, _numbers(rate))), strict=True))
        for key, rate in rates.items()
    ]


def _numbers(rate: Interval) -> tuple[int | str | None, ...]:
    ends = (rate.estimate, rate.lower, rate.upper)
    return (rate.k, rate.n, *(f"{end:.4f}" for end in ends))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the rates, and write them to the file of ``--csv``."""
    parser = argparse.ArgumentParser(description="Precision and recall of the extraction rules.")
    parser.add_argument("--csv", type=Path, help="file to write all rates to")
    chosen = parser.parse_args(arguments)
    rates = measure()
    for (part, name, by, value), rate in rates.items():
        print(f"{part:9} {name:24} {by:8} {value:16} {rate}")
    if chosen.csv:
        made = Table.of(list(rows(rates))).csv()
        chosen.csv.write_text(made, encoding="utf-8", newline="")


if __name__ == "__main__":
    main()
