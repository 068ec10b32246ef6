"""The plan of a reproduction: the pairs of each claim, their order and their cost."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd
from scipy.stats import norm

from constraintrot.errors import ParameterError
from constraintrot.evaluation.harness import parse_harness
from constraintrot.evaluation.parameters import refuse_unknown
from constraintrot.report.claims.declared import Claim, Claims, chosen, paper
from constraintrot.report.tables import Table
from constraintrot.runs import prices as priced
from constraintrot.runs.plan import Size, between, counted, millions
from constraintrot.runs.qualify import size as qualifying
from constraintrot.runs.reproduce.cells import (
    TASK,
    Chunk,
    cells,
    fitting,
    of_tests,
    requests,
    seeds,
)
from constraintrot.runs.reproduce.registration import Planned, Preset, Registration, code
from constraintrot.stats import power
from constraintrot.stats.sequential import obrien_fleming
from constraintrot.tasks.catalogue import FAMILIES

NO_OTHER = "needs a second model (--other)"
# Settings that are columns of a frame, so that queries may fix them, beside those of all claims.
_QUERIED = ("context_tokens", "prompt", "budget_words", "scaffold", "tools")


@dataclass(frozen=True)
class Line:
    """A claim in the plan.

    Attributes:
        size: its size alone, with all looks played.
        added: the size that it adds to the claims before it.
        dollars: cost of ``added``, fewest and most; None without a price.
    """

    planned: Planned
    size: Size
    added: Size
    dollars: tuple[float, float] | None


def draft(
    model: str,
    preset: Preset,
    name: str,
    titles: Sequence[str] = (),
    *,
    other: str | None = None,
    dollars: float | None = None,
    prices: Path | None = None,
    families: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    model_args: Mapping[str, Any] | None = None,
    roles: Mapping[str, str] | None = None,
    seed: int = 0,
) -> Registration:
    """Return a registration without a plan.

    Empty titles (parts of claims' titles are enough) or families stand for all. ``settings`` are
    task parameters that take precedence over the preset's, ``prices`` is a file, and ``seed`` is
    the first seed of each family.
    """
    refuse_unknown(settings or {})
    if unknown := sorted({*families} - {*FAMILIES}):
        raise ParameterError(f"there is no family {unknown[0]}; there are {', '.join(FAMILIES)}")
    known, held = priced.read_prices(prices), {**preset.settings, **(settings or {})}
    every = [model, *([other] if other else []), *models_in(roles or {})]
    found = {one: priced.price_of(one, known) for one in dict.fromkeys(every)}
    return Registration(
        model=model,
        model_args=dict(model_args or {}),
        roles=dict(roles or {}),
        other=other,
        preset=name,
        settings=held,
        families=tuple(name for name in FAMILIES if name in families or not families),
        qualification=preset.qualification,
        looks=preset.looks,
        seed=seed,
        claims=asked(model, other, preset, titles, held),
        planned=(),
        prices={one: dict(price) for one, price in found.items() if price is not None},
        dollars=dollars,
        code=code(),
    )


def models_in(roles: Mapping[str, str]) -> list[str]:
    """Return the models of roles, whose calls are paid too; several judges are one role."""
    return [name.strip() for given in roles.values() for name in given.split(",")]


def asked(
    model: str,
    other: str | None,
    preset: Preset,
    titles: Sequence[str],
    settings: Mapping[str, Any],
) -> Claims:
    """Return the paper's claims for a model: at its settings, with only the arms that are tested.

    Empty titles stand for all; ``settings`` are task parameters of arms that name no others.
    """
    known = paper()
    chosen_ = _named(known, titles)
    queried = {
        # An episode states its own wording, so "all" restricts no query.
        name: None if (name, value) == ("wording", "all") else value
        for name, value in settings.items()
        if name in _QUERIED or name in known.held
    }
    subject = {name: _subject(value, model, other) for name, value in known.held.items()}
    held = {**subject, **queried}
    made: list[Claim] = []
    for claim in chosen_:
        named = {name for test in claim.tests for name in (test.a, test.b)}
        named |= {*claim.premise.arms} if claim.premise else set()
        arms = {
            name: arm.model_copy(
                update={
                    "where": {
                        key: _subject(value, model, other) for key, value in arm.where.items()
                    }
                }
            )
            for name, arm in claim.arms.items()
            if name in named
        }
        where = {**claim.where, **preset.where.get(claim.title, {})}
        made.append(claim.model_copy(update={"arms": arms, "where": where}))
    return known.model_copy(update={"held": held, "claims": tuple(made)})


def plan(draft: Registration, preset: Preset, pilot: pd.DataFrame | None = None) -> list[Line]:
    """Plan all claims of a draft, the smallest first; those over the limit in dollars get no pairs.

    The qualification, which is played before them, is a part of the limit. Assumed rates are from
    the pilot's episodes, otherwise the guesses in the claims.
    """
    claims, number = draft.claims, len(draft.claims.claims)
    drafts: list[Line] = []
    for claim in claims.claims:
        planned = _pairs(claim, draft, preset, pilot, number)
        asked = {(claim.title, planned.pairs)} if planned.pairs else set[tuple[str, int]]()
        size = sum(map(size_of, _chunks(asked, draft)), Size())
        drafts.append(Line(planned, size, size, None))
    drafts.sort(key=lambda line: (line.planned.pairs == 0, line.size.episodes, line.planned.title))
    taken: set[tuple[str, int]] = set()
    first = priced.cost(draft.model, qualification_size(draft), draft.prices)
    before, spent, lines = list[Chunk](), first[1] if first else 0.0, list[Line]()
    for line in drafts:
        if not line.planned.pairs:
            lines.append(line)
            continue
        entry = (line.planned.title, line.planned.pairs)
        now = _chunks(taken | {entry}, draft)
        added = sum(map(size_of, now), sum(map(size_of, before), Size()).times(-1))
        costs = dollars_of(now, draft.prices), dollars_of(before, draft.prices)
        dollars = costs[0] and costs[1] and (costs[0][0] - costs[1][0], costs[0][1] - costs[1][1])
        if draft.dollars is not None and dollars and spent + dollars[1] > draft.dollars:
            said = f"would cost up to $ {dollars[1]:,.2f} more, over the limit of $ {draft.dollars:,.2f}"
            out = Planned(title=line.planned.title, pairs=0, because=said)
            lines.append(Line(out, line.size, Size(), dollars))
            continue
        taken.add(entry)
        before, spent = now, spent + (dollars[1] if dollars else 0.0)
        lines.append(replace(line, added=added, dollars=dollars))
    return lines


def qualification_size(registration: Registration) -> Size:
    held = registration.settings | {"families": list(registration.families)}
    return qualifying({**held, "variants": registration.qualification.variants})


def whole(registration: Registration) -> Size:
    taken = {(one.title, one.pairs) for one in registration.planned if one.pairs}
    return sum(map(size_of, _chunks(taken, registration)), qualification_size(registration))


def dollars_of(chunks: Sequence[Chunk], prices: priced.Prices) -> tuple[float, float] | None:
    """Return the cost of chunks, fewest and most; None without a price.

    Each chunk has the price of the dearer of its agent and its summarizer.
    """
    least = most = 0.0
    for chunk in chunks:
        models = {chunk.cell.agent, chunk.cell.summarizer or chunk.cell.agent}
        found = [priced.cost(model, size_of(chunk), prices) for model in models]
        known = [one for one in found if one is not None]
        if len(known) < len(found):
            return None
        least, most = least + max(known)[0], most + max(known)[1]
    return least, most


def text(registration: Registration, lines: Sequence[Line], preset: Preset) -> str:
    rows = [
        [
            str(at), line.planned.title, str(line.planned.pairs or "-"),
            f"{line.added.episodes:,}" if line.planned.pairs else "-",
            "-" if line.dollars is None or not line.planned.pairs else between(*line.dollars, digits=2),
            line.planned.because,
        ]
        for at, line in enumerate(lines, 1)
    ]  # fmt: skip
    head = ("", "claim", "requests", "episodes more", "dollars more", "")
    total = sum((line.added for line in lines if line.planned.pairs), Size())
    before = 3 * registration.qualification.variants * len(registration.families)
    costs = [line.dollars for line in lines if line.planned.pairs]
    known = [one for one in costs if one is not None]
    cost = (sum(low for low, _ in known), sum(high for _, high in known))
    dollars = f"$ {between(*cost, digits=2)}" if known == costs else priced.unknown()
    number = (
        f"Requests for 80 % power at a family-wise error of {registration.alpha:g} over"
        f" {len(lines)} claims and {registration.looks} looks, by the rates that were assumed."
        if preset.pairs is None
        else f"Up to {preset.pairs} requests a claim, whatever its power; every family has as many"
        " variants, so it may be a few more."
    )
    ending = [
        "",
        f"{registration.model}, preset {registration.preset}: {preset.about}",
        f"At most {total.episodes:,} episodes beside {before:,} of the qualification, in"
        f" {registration.looks} looks; a claim that is decided costs no more.",
        f"At most {total.requests:,} model calls; {millions(total.input_tokens)} M tokens in, of which"
        f" at most {total.cached_tokens[1] / 1e6:,.2f} M were sent before in the same episode;"
        f" {millions(total.output_tokens)} M out, without reasoning; {dollars}.",
        *(f"Not counted: the calls of {role}, {one}." for role, one in registration.roles.items()),
        number,
        *_unread(registration),
        *(f"Open in the paper: {one}" for one in preset.open),
    ]
    return "\n".join([Table(head, rows).text(), *ending])


def _unread(registration: Registration) -> Iterator[str]:
    """Yield a warning if word lists are to say what a model's summaries kept."""
    read = "judge" in registration.roles or registration.settings.get("reader", "words") != "words"
    if read or registration.model.startswith("scripted/"):
        return
    planned = {one.title for one in registration.planned if one.pairs}
    titles = [
        claim.title
        for claim in registration.claims.claims
        if claim.title in planned
        and any(arm.value == "survived" or "survived" in arm.where for arm in claim.arms.values())
    ]
    if titles:
        yield (
            f"! By what summaries kept: {'; '.join(titles)}. The word lists cannot tell of most summaries"
            " that a model writes, which leaves such a claim undecided: name a judge"
            " (--model-role judge=MODEL), or use the local reader (-T reader=local)."
        )


def needed(
    claim: Claim, rates: Mapping[str, float], margin: float, looks: int, number: int
) -> int | None:
    """Return the number of pairs that gives a claim 80 % power; None if no number does.

    All of its tests have to show what it expects. The outcomes of a pair are taken to be independent,
    at the assumed rate of each arm; ``number`` claims are adjusted together.
    """
    level = 2 * float(norm.sf(obrien_fleming(looks, 0.05 / number)[-1]))
    power_ = 1 - (1 - power.POWER) / len(claim.tests)
    found = [
        _test_needs(test.b_is, rates[test.a], rates[test.b], margin, level, power_)
        for test in claim.tests
    ]
    return None if None in found else max(one for one in found if one is not None)


@lru_cache(maxsize=512)
def _test_needs(
    expected: str, a: float, b: float, margin: float, level: float, wanted: float
) -> int | None:
    shares = (a * b, a * (1 - b), (1 - a) * b, (1 - a) * (1 - b))
    sure = 1 - level
    if expected == "different":
        expected = "higher" if b > a else "lower"
    if expected == "higher":
        shares = (shares[0], shares[2], shares[1], shares[3])
    no_higher, no_lower = power.no_higher(margin, sure), power.no_lower(margin, sure)
    rules: dict[str, power.Rule] = {
        "higher": power.fewer(sure),
        "lower": power.fewer(sure),
        "not higher": no_higher,
        "not lower": no_lower,
        "equal": lambda tables: no_higher(tables) & no_lower(tables),
    }
    return power.needed(shares, rules[expected], power=wanted)


def _pairs(
    claim: Claim, draft: Registration, preset: Preset, pilot: pd.DataFrame | None, number: int
) -> Planned:
    title, tested = claim.title, [name for test in claim.tests for name in (test.a, test.b)]
    wheres = [{**draft.claims.held, **claim.where, **arm.where} for arm in claim.arms.values()]
    if any("other" in (where.get("agent"), where.get("summarizer")) for where in wheres):
        return Planned(title=title, pairs=0, because=NO_OTHER)
    try:
        for where in wheres:
            parse_harness(str(where["harness"]))
    except ParameterError as error:
        # A framework that is not installed leaves out its claims only.
        return Planned(title=title, pairs=0, because=str(error))
    asked = claim, draft.claims, draft.families
    grown = requests(*asked, draft.seed)
    there = min(sum(grown[name][-1] for name in names) for names in of_tests(*asked))
    if not there or not all(fitting(where, draft.families) for where in wheres):
        return Planned(title=title, pairs=0, because="no family is of its kind and language")
    if preset.pairs is not None:
        return Planned(title=title, pairs=min(preset.pairs, there))
    rates = _rates(claim, draft.claims, pilot)
    if (premise := claim.premise) and any(
        rates.get(arm, 0.0) > premise.at_most for arm in premise.arms
    ):
        return Planned(title=title, pairs=0, because=f"premise: {premise.words}")
    if missing := [name for name in tested if name not in rates]:
        return Planned(title=title, pairs=0, because=f"no rate is known of {missing[0]}")
    takes = needed(claim, rates, draft.claims.margin, draft.looks, number)
    if takes is None:
        at = ", ".join(f"{name} {100 * rates[name]:.0f} %" for name in dict.fromkeys(tested))
        return Planned(title=title, pairs=0, because=f"no number of pairs decides it at {at}")
    if takes > there:
        return Planned(
            title=title,
            pairs=there,
            because=f"80 % power takes {takes}; all {there} that there are",
        )
    return Planned(title=title, pairs=takes)


def _rates(claim: Claim, claims: Claims, pilot: pd.DataFrame | None) -> dict[str, float]:
    """Return the assumed rate of each arm; a pilot's is moved off 0 and 1 by half an episode."""
    found = {name: arm.guess for name, arm in claim.arms.items() if arm.guess is not None}
    if pilot is None:
        return found
    for name, arm in claim.arms.items():
        values = chosen(pilot, {**claims.held, **claim.where, **arm.where})[arm.value].dropna()
        if len(values):
            found[name] = (float(values.sum()) + 0.5) / (len(values) + 1)
    return found


def _chunks(taken: set[tuple[str, int]], draft: Registration) -> list[Chunk]:
    by_title = {claim.title: claim for claim in draft.claims.claims}
    needed_: dict[Any, dict[str, int]] = {}
    for title, pairs in taken:
        claim = by_title[title]
        asked = claim, draft.claims, draft.families
        sizes = seeds(requests(*asked, draft.seed), pairs, of_tests(*asked))
        for cell, families in cells(claim, draft.claims, draft).items():
            held = needed_.setdefault(cell, {})
            for name in families:
                if name in sizes:
                    held[name] = max(held.get(name, 0), sizes[name])
    return [
        Chunk(cell, (name,), 0, number)
        for cell, families in needed_.items()
        for name, number in families.items()
    ]


def size_of(chunk: Chunk) -> Size:
    """Return the size of a chunk; one episode of a cell stands for all of its families."""
    one = {**chunk.args, "families": [chunk.families[0]], "seed": 0, "variants": 1}
    return counted(TASK, one).times((chunk.stop - chunk.start) * len(chunk.families))


def _subject(value: Any, model: str, other: str | None) -> Any:
    """Return the model that ``subject`` or ``other`` stands for; any other value unchanged."""
    if value == "subject":
        return model
    return other if value == "other" and other else value


def _named(known: Claims, titles: Sequence[str]) -> list[Claim]:
    found: list[Claim] = []
    for given in titles:
        hits = [one for one in known.claims if given.casefold() in one.title.casefold()]
        if not hits:
            names = "; ".join(one.title for one in known.claims)
            raise ParameterError(f"no claim {given!r}; there are: {names}")
        found += [one for one in hits if one not in found]
    return found or list(known.claims)
