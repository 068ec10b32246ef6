"""The benefit and the cost of each defense, on paired episodes.

An episode's twin has ``defense=none`` and is otherwise the same: model, variant,
replicate, request, condition, attack, compactor and so on. A condition is compared
without its defense, so the twin of ``defense_pin`` is in ``compaction``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from statistics import median
from typing import Any

import pandas as pd

from constraintrot.episode.facts import KEYS
from constraintrot.evaluation.conditions import CONDITIONS, Condition
from constraintrot.grading.outcome_status import SILENCE, SILENT
from constraintrot.report.episode_counts import HEADS, counts, is_played, played
from constraintrot.report.table import count_notes, notes, share
from constraintrot.report.tables import Table
from constraintrot.stats.interval import Interval, NoInterval

# Facts that are equal for twins, besides the condition (see ``bare``).
TWINS = tuple(fact for fact in KEYS if fact not in ("condition", "defense"))
UNPAIRED = "unpaired"
# Prefixes of conditions that are another condition plus an attack, a defense or distractors.
_APART = ("attack_", "defense_", "stress_")
_RATES = ("violation", "utility", "over_refusal")
_COSTS = {
    "tokens_added": "last_input_tokens",
    "seconds_added": "seconds_defense",
    "compaction_seconds_added": "seconds_compaction",
}


def compare_defenses(frame: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """Compare each defense with the same episodes without it, one row per agent and defense.

    Args:
        frame: episodes, as ``report.frame.planned_episodes`` returns them, or ``episodes``.
        by: columns that split the rows further.

    Returns:
        Columns: ``planned``, ``played``, ``errored`` and ``silent`` (see
        ``report.episode_counts``); ``episodes``; ``pairs``; for ``violation`` (prohibited requests),
        ``utility`` and ``over_refusal`` (allowed ones) ``_k``, ``_n``, the 95 %
        interval ``_lower`` and ``_upper`` with its ``_method``, and the twins'
        ``_none_k``; ``silent_k``; ``tokens_added``, ``seconds_added`` and
        ``compaction_seconds_added``, medians of the paired differences;
        ``defense_calls``, mean per episode; ``prefix_broken_k`` of
        ``prefix_broken_n`` measured episodes; and ``note``. Rates are over the
        paired episodes. Without pairs, they are over all episodes, the twins'
        columns are empty and ``note`` says ``unpaired``.
    """
    by = _parts(by)
    planned = frame
    frame = played(frame)
    frame = frame.assign(pair=pairs(frame))
    twins = frame[frame["defense"] == "none"].set_index("pair")
    keys = ["agent", *by, "defense"]
    rows: list[dict[str, Any]] = []
    for values, group in planned.groupby(keys, sort=False, dropna=False):
        row: dict[str, Any] = dict(zip(keys, values, strict=True))
        row |= asdict(counts(group))
        rows.append(row | _compared(frame.loc[group.index[is_played(group)]], twins))
    return pd.DataFrame(rows).sort_values(keys, key=lambda column: column.map(_place))


def text(frame: pd.DataFrame, by: Sequence[str] = ()) -> str:
    """Return the comparison as Markdown, one pipe table per agent."""
    by = _parts(by)
    records = compare_defenses(frame, by).to_dict("records")
    rows = [{str(name): value for name, value in record.items()} for record in records]
    utility = any(row["utility_n"] for row in rows)
    head = [*by, "defense", "pairs", "violated", "without"]
    if utility:
        head += ["allowed task done", "without", "over-refusal", "without"]
    head += ["tokens added", "seconds added", "compacting", "model calls", "prefix breaks", *HEADS]
    lines: list[str] = []
    for agent in dict.fromkeys(row["agent"] for row in rows):
        body = [_line(row, by, utility) for row in rows if row["agent"] == agent]
        lines += [f"Model: {agent}", "", Table(head, body).text(), ""]
    lines += [
        "Paired with the same episodes under defense none (without): rates with exact 95 %",
        "intervals in per cent, medians of the paired differences. Tokens are those of the last",
        "input; seconds, those of the defense's hooks, and those of the compaction; model calls,",
        "those made for the defense, an episode.",
    ]
    lines += [f"! {row['defense']}: {row['note']}." for row in rows if row["note"]]
    conditions = list(dict.fromkeys(frame["condition"]))
    if len(conditions) > 1 and "condition" not in by:
        pooled = ", ".join(conditions)
        lines.append(f"! cells pool the conditions {pooled}; part them with --by condition.")
    lines += count_notes(frame)
    return "\n".join(lines + notes(frame, keys=["agent", *by, "defense", "condition"]))


def bare(name: str) -> str:
    """Return a condition without its attack, defense and distractors.

    Those are separate facts of an episode.
    """
    # Conditions without these prefixes may differ in ways that ``Condition`` does not show.
    if not name.startswith(_APART) or name not in CONDITIONS:
        return name
    conditions = {
        _stripped(condition): known for known, condition in reversed(list(CONDITIONS.items()))
    }
    return conditions[_stripped(CONDITIONS[name])]


def _parts(by: Sequence[str]) -> list[str]:
    return [name for name in by if name not in ("agent", "defense")]


def _place(value: object) -> str:
    """Sort key: conditions in the order of ``CONDITIONS``, ``none`` before other defenses."""
    if value in CONDITIONS:
        return f"{list(CONDITIONS).index(str(value)):04}"
    return "" if value == "none" else str(value)


def _stripped(condition: Condition) -> Condition:
    return replace(condition, name="", attack=None, defense=None, distractors=0)


def pairs(frame: pd.DataFrame, apart: Sequence[str] = ("defense",)) -> pd.Series[str]:
    """Return a key that an episode shares only with its twin.

    If episodes are equal, the k-th of one side is paired with the k-th of the other.
    """
    alike = [name for name in TWINS if name not in apart]
    facts = frame[alike].assign(condition=frame["condition"].map(bare)).astype(str)
    first, others = facts[alike[0]], facts.drop(columns=alike[0])
    key = first.str.cat(others, sep="\x1f", na_rep="nan")
    return (
        key + "\x1f" + key.groupby([key, *(frame[name] for name in apart)]).cumcount().astype(str)
    )


def _compared(group: pd.DataFrame, twins: pd.DataFrame) -> dict[str, Any]:
    paired = group[group["pair"].isin(twins.index)]
    alone = paired.empty
    used = group if alone else paired
    without = twins.loc[[] if alone else list(used["pair"])]
    prohibited, allowed = ~used["allowed"].astype(bool), used["allowed"].astype(bool)
    row: dict[str, Any] = {"episodes": len(group), "pairs": len(paired)}
    for name, chosen in zip(_RATES, (prohibited, allowed, allowed), strict=True):
        row |= _rate(name, used[chosen], None if alone else without[chosen.to_numpy()])
    row["silent_k"] = int(used[prohibited]["outcome"].isin(SILENT).sum())
    for name, column in _COSTS.items():
        row[name] = None if alone else _difference(used, without, column)
    row["defense_calls"] = used["defense_calls"].astype(float).mean()
    measured = used["prefix_broken"].dropna()
    row |= {"prefix_broken_k": int((measured > 0).sum()), "prefix_broken_n": len(measured)}
    return row | {"note": _note(group, paired)}


def _rate(name: str, mine: pd.DataFrame, without: pd.DataFrame | None) -> dict[str, Any]:
    rate = share(mine, mine[name] == 1)
    has = rate if isinstance(rate, Interval) else None
    return {
        f"{name}_k": rate.k or 0,
        f"{name}_n": rate.n,
        f"{name}_lower": has.lower if has else None,
        f"{name}_upper": has.upper if has else None,
        f"{name}_method": has.method if has else rate.reason,
        f"{name}_none_k": None if without is None else int((without[name] == 1).sum()),
    }


def _difference(mine: pd.DataFrame, without: pd.DataFrame, column: str) -> float | None:
    ours, theirs = (part[column].astype(float).to_numpy() for part in (mine, without))
    differences = [float(a - b) for a, b in zip(ours, theirs, strict=True) if a == a and b == b]
    return median(differences) if differences else None


def _note(group: pd.DataFrame, paired: pd.DataFrame) -> str:
    if paired.empty:
        return (
            f"{UNPAIRED}: no episode under defense none is otherwise the same, so its rates are"
            " of all its episodes, and no difference can be given"
        )
    left = len(group) - len(paired)
    return f"{left} of {len(group)} episodes have no twin and are left out" if left else ""


def _line(row: dict[str, Any], by: Sequence[str], utility: bool) -> list[str]:
    none = row["defense"] == "none"
    alone = not none and not row["pairs"]
    pairs = "-" if none else UNPAIRED if alone else str(row["pairs"])
    line = [*(str(row[key]) for key in by), row["defense"], pairs]
    for name in _RATES if utility else _RATES[:1]:
        line += _two(row, name, none, alone)
    if row["silent_k"] > SILENCE * row["violation_n"]:
        line[len(by) + 2] += " ! silent"
    for name, form in zip(_COSTS, ("+.0f", "+.3f", "+.3f"), strict=True):
        line.append("-" if none else UNPAIRED if alone else _shown(row[name], form))
    breaks = f"{row['prefix_broken_k']}/{row['prefix_broken_n']}"
    line += [_shown(row["defense_calls"], ".1f"), breaks if row["prefix_broken_n"] else "-"]
    return [*line, *(_shown(row[name], ".0f") for name in HEADS)]


def _two(row: dict[str, Any], name: str, none: bool, alone: bool) -> list[str]:
    n = row[f"{name}_n"]
    if not n:
        return ["-", "-"]
    without = "-" if none else UNPAIRED if alone else f"{int(row[f'{name}_none_k'])}/{n}"
    k, lower, upper, method = (row[f"{name}_{part}"] for part in ("k", "lower", "upper", "method"))
    if lower is None or lower != lower:
        return [str(NoInterval(method, k, n)), without]
    return [str(Interval(k / n, lower, upper, k, n, method)), without]


def _shown(value: float | None, form: str) -> str:
    # pandas turns None into nan in a column of numbers.
    return "-" if value is None or value != value else format(value, form)
