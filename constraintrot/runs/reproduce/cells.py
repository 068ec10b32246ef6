"""The episodes of a claim: one task's settings per arm, on the first seeds of some families."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

from constraintrot.compactors import COMPACTORS
from constraintrot.evaluation.conditions import CONDITIONS
from constraintrot.evaluation.harness import HARNESSES
from constraintrot.report.claims.declared import Claim, Claims, Where
from constraintrot.runs.reproduce.registration import Registration
from constraintrot.scenario.files import load, locales
from constraintrot.scenario.splits import QUALIFICATION_SEEDS

TASK = "constraintrot/pin_stress"
SEEDS = QUALIFICATION_SEEDS.start
"""The number of a family's seeds for results, which lie below the qualification's."""
_COMPACTING = ("compactor", "prompt", "budget_words", "rounds", "compact_at")
_ARGUMENTS = (
    "attack", *_COMPACTING, "locale", "channel", "scaffold", "harness", "context_tokens",
    "wording", "distractors", "allowed",
)  # fmt: skip
# Tasks' defaults; left out of a cell, so that the same episodes are the same cell.
_DEFAULTS = {
    "attack": "none", "rounds": 1, "locale": "en", "channel": "user", "harness": "replay",
    "wording": "declarative", "distractors": 0, "allowed": False, "compactor": "summarize",
}  # fmt: skip
# Names in queries that are not task settings, but measured or derived.
_UNKNOWN_TO_TASKS = ("survived", "summary_by", "family", "kind", "agent", "summarizer")


@dataclass(frozen=True)
class Cell:
    """One evaluation without its families and seeds.

    Attributes:
        summarizer: the model that writes the summaries; None if the agent does.
    """

    text: str
    agent: str
    summarizer: str | None = None

    @property
    def args(self) -> dict[str, Any]:
        return dict(json.loads(self.text))


@dataclass(frozen=True)
class Chunk:
    cell: Cell
    families: tuple[str, ...]
    start: int
    stop: int

    @property
    def args(self) -> dict[str, Any]:
        seeds = {"seed": self.start, "variants": self.stop - self.start}
        return {**self.cell.args, "families": list(self.families), **seeds}

    @property
    def episodes(self) -> int:
        return len(self.families) * (self.stop - self.start)

    @property
    def label(self) -> str:
        """The condition, followed by the defense and the attack if there are any."""
        told = self.cell.args
        parts = [str(told["conditions"]), str(told["defenses"][0]), str(told.get("attack", "none"))]
        return ", ".join(part for part in parts if part != "none")

    @property
    def name(self) -> str:
        """The name of its logs' folder, the same in every call for the same chunk."""
        whole = json.dumps([self.args, self.cell.agent, self.cell.summarizer], sort_keys=True)
        told = self.cell.args
        shown = f"{told['conditions']}-{told['defenses'][0]}-{told.get('attack', 'none')}"
        return f"{shown}-{hashlib.sha256(whole.encode()).hexdigest()[:10]}"


def cells(claim: Claim, claims: Claims, registration: Registration) -> dict[Cell, tuple[str, ...]]:
    """Return the cells that a claim's arms need, each with its families."""
    found: dict[Cell, tuple[str, ...]] = {}
    for arm in claim.arms.values():
        where = {**claims.held, **claim.where, **arm.where}
        for one in _spread(where):
            cell = _cell(one, registration)
            there = fitting(one, registration.families)
            known = found.get(cell, ())
            found[cell] = tuple(name for name in registration.families if name in (*known, *there))
    return found


def fitting(where: Mapping[str, Any], families: Sequence[str]) -> tuple[str, ...]:
    """Return the families that fit a query: named by it, of its kind and in its language."""
    kind, locale = where.get("kind"), str(where.get("locale") or "en")
    named = where.get("family")
    wanted = families if named is None else named if isinstance(named, list) else [named]
    return tuple(
        name
        for name in families
        if name in wanted
        and (kind is None or name.startswith(f"{kind}_"))
        and locale in locales(name)
    )


def requests(
    claim: Claim, claims: Claims, families: Sequence[str], first: int = 0
) -> dict[str, list[int]]:
    """Return, by family, how many different requests 1, 2, 3 ... seeds from ``first`` on have.

    Families are those that any arm fits; if several arms fit one, the fewest requests count.
    """
    found: dict[str, list[int]] = {}
    for arm in claim.arms.values():
        where = {**claims.held, **claim.where, **arm.where}
        locale, allowed = str(where.get("locale") or "en"), bool(where.get("allowed"))
        for name in fitting(where, families):
            grown = _different(name, locale, allowed, first)
            found[name] = [min(a, b) for a, b in zip(found.get(name, grown), grown, strict=True)]
    return found


def seeds(
    grown: Mapping[str, Sequence[int]], wanted: int, together: Sequence[Sequence[str]]
) -> dict[str, int]:
    """Return the fewest seeds of each family that give the wanted number of different requests.

    All families get the same number of seeds; all seeds if these are too few. Requests are counted
    over the families of a group in ``together``; each group must have enough.
    """
    there = min(map(len, grown.values()), default=0)
    fits = (
        n
        for n in range(1, there + 1)
        if all(sum(grown[name][n - 1] for name in names) >= wanted for names in together if names)
    )
    return dict.fromkeys(grown, next(fits, there))


def of_tests(claim: Claim, claims: Claims, families: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the families of each test of a claim: those that both its arms fit."""
    fits = {
        name: fitting({**claims.held, **claim.where, **arm.where}, families)
        for name, arm in claim.arms.items()
    }
    return [tuple(name for name in fits[test.a] if name in fits[test.b]) for test in claim.tests]


def chunks(
    needed: Mapping[Cell, Mapping[str, int]], there: Mapping[Cell, Mapping[str, int]], first: int
) -> Iterator[Chunk]:
    """Yield the chunks to play.

    By cell and family, claims need the seeds from ``first`` to before ``needed``; those before
    ``there`` were played.
    """
    for cell, families in needed.items():
        had = there.get(cell, {})
        alike: dict[tuple[int, int], list[str]] = {}
        for name, stop in families.items():
            if stop > (start := had.get(name, first)):
                alike.setdefault((start, stop), []).append(name)
        for (start, stop), names in alike.items():
            yield Chunk(cell, tuple(names), start, stop)


def _spread(where: Where) -> Iterator[dict[str, Any]]:
    """Yield a query with one value of each setting, for all combinations of its values."""
    listed = {
        name: value
        for name, value in where.items()
        if isinstance(value, list) and name not in ("family", "seed")
    }
    for values in product(*listed.values()):
        yield {**where, **dict(zip(listed, values, strict=True))}


def _cell(where: Mapping[str, Any], registration: Registration) -> Cell:
    condition = CONDITIONS[str(where["condition"])]
    given = {name: value for name, value in where.items() if value is not None}
    # Settings that a query leaves open: the length, and all wordings.
    for name in ("context_tokens", "wording"):
        if name in registration.settings:
            given.setdefault(name, registration.settings[name])
    left_out: tuple[str, ...] = ()
    # A page is made without the frameworks that were played.
    harness = HARNESSES.get(str(given["harness"]).partition(":")[0])
    if not condition.compacts or harness.compacts_itself:
        left_out = _COMPACTING
    else:
        compactor = COMPACTORS.get(str(given.get("compactor", "summarize")))
        left_out = tuple({"prompt", "budget_words"} - {*compactor.takes})
        # Otherwise the compactor's own values are played.
        for name in compactor.takes:
            given.setdefault(name, getattr(compactor, name))
    args = {
        name: given[name]
        for name in _ARGUMENTS
        if given.get(name) is not None
        and name not in left_out
        and _DEFAULTS.get(name) != given[name]
    }
    args |= {
        name: value
        for name, value in registration.settings.items()
        if name not in (*_ARGUMENTS, *_UNKNOWN_TO_TASKS)
    }
    args |= {"conditions": condition.name, "defenses": [str(given.get("defense", "none"))]}
    agent, by = str(given["agent"]), given.get("summarizer")
    text = json.dumps(args, sort_keys=True)
    return Cell(text, agent, None if by in (None, agent) or not condition.compacts else str(by))


@cache
def _different(family: str, locale: str, allowed: bool, first: int) -> list[int]:
    scenario = load(family, locale)
    seen: set[str] = set()
    grown: list[int] = []
    for seed in range(first, SEEDS):
        seen.add(scenario.variant(seed, "held_out").request(allowed))
        grown.append(len(seen))
    return grown
