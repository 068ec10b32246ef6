"""How many of the rules that somebody says the doctor takes, and what it takes that is none.

On texts that were written for another measurement (``results.tools.extraction``): rules on
subjects of no scenario within longer turns (``others.yaml``), turns that hold no rule
(``benign.yaml``), and the users' turns of the benchmark's histories, which are work alone.
Of the lists, entries at odd positions are held out: nothing was mended by them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from constraintrot.doctor.rules import folded
from constraintrot.rule_text.said import said
from constraintrot.scenario import history
from constraintrot.scenario.files import every
from results.tools.doctor.counts import share

_TEXTS = Path(__file__).parents[1]
_RULE = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)
# User turns of each family's history.
_TURNS = 60


def measured() -> Iterator[str]:
    """The tables."""
    others: dict[str, Any] = _read("others.yaml")
    benign: dict[str, Any] = _read("benign.yaml")
    yield "| language | rules said, held out | taken | taken, the other half |"
    yield "| --- | --- | --- | --- |"
    for locale, kinds in others.items():
        held = [text for texts in kinds.values() for text in texts[1::2]]
        seen = [text for texts in kinds.values() for text in texts[::2]]
        yield f"| {locale} | {len(held)} | {_recall(held)} | {_recall(seen)} |"
    yield "\n| language | turns without a rule | of these, one was taken from | the other half |"
    yield "| --- | --- | --- | --- |"
    for locale, kinds in benign.items():
        for kind, name in (("plain", "requests and notes"), ("hard", "with words of rules")):
            texts = [one for one in kinds.get(kind, ()) if isinstance(one, str)]
            held, seen = texts[1::2], texts[::2]
            yield f"| {locale}, {name} | {len(held)} | {_wrong(held)} | {_wrong(seen)} |"
    for locale in others:
        turns = _worked(locale)
        yield f"| {locale}, histories of the benchmark | {len(turns)} | {_wrong(turns)} | |"


def missed(half: int) -> Iterator[str]:
    """What was not taken, and what was wrongly, of one half: 0 may be looked at."""
    for locale, kinds in _read("others.yaml").items():
        for text in (one for texts in kinds.values() for one in texts[half::2]):
            if not _taken(text):
                yield f"{locale} missed: {text}"
    for locale, kinds in _read("benign.yaml").items():
        for text in (one for kind in ("plain", "hard") for one in kinds[kind][half::2]):
            yield from (f"{locale} wrongly: {rule} <- {text}" for rule in said(text))
        if half == 0:
            for text in _worked(locale):
                yield from (f"{locale} wrongly, history: {rule} <- {text}" for rule in said(text))


def _read(name: str) -> dict[str, Any]:
    told: dict[str, Any] = yaml.safe_load((_TEXTS / name).read_text(encoding="utf-8"))
    return {locale: kinds for locale, kinds in told.items() if locale != "canary"}


def _taken(text: str) -> bool:
    """Whether a rule that is taken holds the one that is marked, or a sentence of it."""
    (rule,) = _RULE.findall(text)
    taken = [folded(one) for one in said(_RULE.sub(r"\1", text))]
    sentences = [folded(one) for one in re.split(r"(?<=[.!?。])\s*", rule) if one]
    return any(folded(rule) in one or one in folded(rule) for one in taken) or any(
        sentence in one for one in taken for sentence in sentences
    )


def _recall(texts: Sequence[str]) -> str:
    return share(sum(map(_taken, texts)), len(texts))


def _wrong(texts: Sequence[str]) -> str:
    return share(sum(next(said(text), None) is not None for text in texts), len(texts))


def _worked(locale: str) -> list[str]:
    """Users' turns of the histories, once each."""
    found: dict[str, None] = {}
    for scenario in every():
        if scenario.locale == locale:
            turns = history.for_tokens(scenario.variant(0), 6_000)
            found |= dict.fromkeys([turn.user for turn in turns][:_TURNS])
    return list(found)
