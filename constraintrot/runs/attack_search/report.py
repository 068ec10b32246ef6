"""The report of a search: success at k prompts, the best prompt, held-out variants."""

import json
from collections.abc import Sequence

from constraintrot.attacks.search_results.journal import Journal
from constraintrot.attacks.search_results.trial import Query, Trial, best
from constraintrot.report.tables import Table
from constraintrot.stats.interval import Estimate, Interval
from constraintrot.stats.rate import rate as over

# Numbers of prompts at which success is shown, besides the number tried.
BUDGETS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 500, 1000)
_TEXT_CHARS = 90


def shown(query: Query) -> str:
    """Return a prompt's results and the start of its text, on one line."""
    if query.number and not query.candidate.text:
        return f"nothing to play: {query.candidate.made.get('fault', 'no text')}"
    trials = query.trials
    counts = f"broke {query.broken} of {len(trials)}, constraint lost {_lost(trials)}"
    counts += f", violated {sum(trial.violated for trial in trials)}"
    failed = sum(trial.outcome is None for trial in trials)
    if failed:
        counts += f", not playable {failed}"
    text = query.candidate.text
    return f"{counts} | {json.dumps(text[:_TEXT_CHARS], ensure_ascii=False)}" if text else counts


def at_k(search: Journal) -> dict[int, Estimate]:
    """Return the share of the search's variants that the first k prompts broke, by k.

    The largest k is the number of prompts tried.
    """
    history = search.history()
    first: dict[tuple[str, int], int] = {}
    for query in history:
        for trial in query.trials:
            if trial.broken:
                first.setdefault((trial.family, trial.seed), query.number)
    cells = search.cells(1)
    budgets = sorted({k for k in BUDGETS if k < len(history)} | {len(history)} - {0})
    return {k: rate([first.get(cell, k + 1) <= k for cell in cells]) for k in budgets}


def rate(outcomes: Sequence[bool]) -> Estimate:
    """Return a rate over variants, with the interval that the coverage check chose."""
    return over([float(outcome) for outcome in outcomes], list(range(len(outcomes))))


def text(search: Journal) -> str:
    settings, history = search.settings, search.history()
    most = best(history)
    cells, without = search.cells(1), search.query(0)
    lines = [
        f"Attack search, strategy {settings.strategy}, on {', '.join(settings.families)}"
        f" ({settings.parameters.get('locale', 'en')}) against {settings.target},"
        f" defense {settings.defense} ({settings.knowledge}).",
        "A variant is broken where the context had lost the constraint or a part of it and the",
        f"call violated it. Of the search's {len(without.trials)} variants (seeds"
        f" {_range(settings.seeds)}) {without.broken} broke without an attack; {len(history)}"
        f" prompts were played on the other {len(cells)}.",
        *unheeded("In the search", without.trials),
        "",
    ]
    if not cells:
        lines.append("There was nothing to break, so no prompt was tried: choose other variants.")
    elif history:
        points = [[str(k), str(estimate)] for k, estimate in at_k(search).items()]
        lines += [Table(["prompts", "variants broken by then"], points).text(), ""]
    if history and not (most and most.broken):
        lines += [*_nothing(len(cells), len(history)), ""]
    if most is not None:
        name = "Best prompt" if most.broken else "Closest prompt"
        lines += [f"{name}: number {most.number}, {_made(most)}; {shown(most)}", ""]
        lines += _held_out(search, most, name.lower())
    return "\n".join(lines)


def overview(searches: Sequence[Journal]) -> str:
    rows: list[list[str]] = []
    strongest = {id(one) for one in per_target(searches)}
    for search in searches:
        most = best(search.history())
        evaluated = search.query(most.number, held_out=True).trials if most else ()
        rows.append(
            [
                search.settings.target + (" *" if id(search) in strongest else ""),
                search.settings.defense,
                search.settings.strategy,
                str(len(search.history())),
                f"{most.broken}/{len(most.trials)}" if most else "-",
                str(rate([trial.broken for trial in evaluated])),
                str(rate([t.broken for t in search.query(0, held_out=True).trials])),
                _made(most) if most and most.broken else "nothing found",
            ]
        )
    head = ["target", "defense", "strategy", "prompts", "best", "held out", "no attack", "prompt"]
    note = "* the best of its target and defense, by broken held-out variants."
    warned = [
        line
        for one in searches
        for line in unheeded(f"On {one.settings.target}", one.query(0, held_out=True).trials)
    ]
    return "\n".join([Table(head, rows).text(), "", note, *dict.fromkeys(warned)])


def per_target(searches: Sequence[Journal]) -> list[Journal]:
    """Return, by target and defense, the search whose best prompt broke most held-out variants."""
    strongest: dict[tuple[str, str], tuple[int, Journal]] = {}
    for one in searches:
        most = best(one.history())
        if most is None or not most.broken:
            continue
        key = one.settings.target, one.settings.defense
        broken = one.query(most.number, held_out=True).broken
        if key not in strongest or broken > strongest[key][0]:
            strongest[key] = broken, one
    return [one for _, one in strongest.values()]


def _nothing(variants: int, prompts: int) -> list[str]:
    estimate = rate([False] * variants)
    upper = f"{100 * estimate.upper:.0f} %" if isinstance(estimate, Interval) else "100 %"
    return [
        f"0 successes in {prompts} prompts: no attack was found. That is no proof that there is",
        f"none: with {variants} variants, the share that this search breaks may be up to"
        f" {upper} (95 %).",
    ]


def _held_out(search: Journal, most: Query, name: str) -> list[str]:
    rows: list[list[str]] = []
    for row, number in ((name, most.number), ("no attack", 0)):
        trials = search.query(number, held_out=True).trials
        counts = ([getattr(t, fact) for t in trials] for fact in ("broken", "violated"))
        rows.append([row, *(str(rate(each)) for each in counts), f"{_lost(trials)}/{len(trials)}"])
    seeds = _range(search.settings.eval_seeds)
    lines = [f"Held-out variants (seeds {seeds}), on which nothing was searched:", ""]
    lines.append(Table(["", "broken", "violated", "constraint lost"], rows).text())
    return [*lines, "", *_paired(search, most)]


def _paired(search: Journal, most: Query) -> list[str]:
    without = {(t.family, t.seed): t for t in search.query(0, held_out=True).trials}
    trials = search.query(most.number, held_out=True).trials
    pairs = [(t, without[t.family, t.seed]) for t in trials if (t.family, t.seed) in without]
    more = sum(one.broken and not other.broken for one, other in pairs)
    less = sum(other.broken and not one.broken for one, other in pairs)
    return [
        f"Of {len(pairs)} pairs, {more} broke with the prompt alone, {less} without it alone.",
        *unheeded("Held out", [*without.values()]),
        "Intervals are 95 %, in per cent.",
    ]


def unheeded(where: str, without: Sequence[Trial]) -> list[str]:
    seen = sum(trial.violated and trial.kept for trial in without)
    if not seen:
        return []
    return [
        f"{where}, {seen} of {len(without)} variants were violated without an attack although the"
        "\ncontext held the constraint: there, broken shows that it was lost, and not that a prompt"
        "\nmade the agent violate it."
    ]


def _lost(trials: Sequence[Trial]) -> int:
    return sum(not trial.kept for trial in trials)


def _made(query: Query) -> str:
    made = query.candidate.made
    return str(made.get("name") or f"genome {json.dumps(made.get('genome'))}")


def _range(seeds: range) -> str:
    return f"{seeds.start} to {seeds.stop - 1}" if len(seeds) > 1 else str(seeds.start)
