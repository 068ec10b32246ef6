"""From a frame of episodes, as ``report.frame`` gives it, to arms, pairs and clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from constraintrot.errors import ParameterError
from constraintrot.stats.bounds import Bounds, bounds
from constraintrot.stats.interval import Estimate, Floats
from constraintrot.stats.mediation import Mediation, mediate
from constraintrot.stats.paired import Comparison, compare
from constraintrot.stats.rate import rate

if TYPE_CHECKING:
    import pandas as pd

CLUSTER = ("family", "seed")
"""One variant of one family; replicates, locales and wordings of it are one cluster."""

IDENTITY = ("family", "locale", "seed", "replicate", "allowed")
"""Which episode it is, whatever the arms have in common."""

UNKNOWN = ("malformed", "no_call")
"""Outcomes of which nobody knows whether they would have violated."""

KEYS = (
    "family", "locale", "wording", "channel", "condition", "compactor", "prompt",
    "budget_words", "rounds", "scaffold", "attack", "defense", "harness", "agent",
    "summarizer", "distractors", "context_tokens", "compact_at", "allowed", "seed", "replicate",
)  # fmt: skip
"""What makes an episode the same one in another arm."""


@dataclass(frozen=True)
class Arms:
    """The episodes that all arms share, in one order.

    Attributes:
        values: by arm, one outcome an episode; nan where it is unknown.
        labels: cluster of each episode.
        keys: columns that they were matched on.
        unpaired: by arm, episodes without a partner in every other arm.
        shared: the matched rows' keys, one row an episode.
    """

    values: dict[str, Floats]
    labels: npt.NDArray[np.intp]
    keys: tuple[str, ...]
    unpaired: dict[str, int]
    shared: pd.DataFrame

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Episodes whose outcome is known in every arm."""
        unknown = np.isnan(np.stack(list(self.values.values())))
        return np.asarray(~unknown.any(0), bool)


def labels(frame: pd.DataFrame, by: Sequence[str] = CLUSTER) -> npt.NDArray[np.intp]:
    """The cluster of each row, numbered."""
    groups = frame.groupby(_present(frame, by), sort=False, dropna=False).ngroup()
    return np.asarray(groups, np.intp)


def frame_rate(
    frame: pd.DataFrame, value: str = "violation", by: Sequence[str] = CLUSTER, **options: Any
) -> Estimate:
    """The rate of a 0-or-1 column over its scored rows, clustered.

    Args:
        frame: episodes.
        value: the column.
        by: columns that make a cluster.
        options: of ``rate``.
    """
    scored = frame[frame[value].notna()]
    return rate(scored[value].to_numpy(np.float64), labels(scored, by), **options)


def frame_bounds(
    frame: pd.DataFrame,
    value: str = "violation",
    by: Sequence[str] = CLUSTER,
    *,
    unknown: Sequence[str] = UNKNOWN,
    missing: int = 0,
) -> Bounds:
    """Bounds over unscored rows, rows of an unknown outcome, and episodes without a row.

    Args:
        frame: episodes.
        value: the column.
        by: columns that make a cluster.
        unknown: outcomes that say nothing of what the agent would have done.
        missing: episodes that were planned and have no row.
    """
    return bounds(known(frame, value, unknown), labels(frame, by), missing=missing)


def known(
    frame: pd.DataFrame, value: str = "violation", unknown: Sequence[str] = UNKNOWN
) -> Floats:
    """A column with nan where the outcome is unknown."""
    values = frame[value].to_numpy(np.float64, copy=True)
    if "outcome" in frame:
        values[frame["outcome"].isin(list(unknown)).to_numpy()] = np.nan
    return values


def arms(
    frame: pd.DataFrame,
    given: Mapping[str, Mapping[str, object]],
    value: str = "violation",
    by: Sequence[str] = CLUSTER,
    on: Sequence[str] | None = None,
) -> Arms:
    """Match the episodes of two or more arms.

    Args:
        frame: episodes.
        given: by arm, what holds in it, such as ``{"defense": "none"}``.
        value: the outcome's column.
        by: columns that make a cluster.
        on: columns to match on. By default all facts of an episode that the arms
            do not fix, less those in which no two arms share a value (a control
            has no compactor).

    Raises:
        ParameterError: an arm is empty, holds an episode twice, or shares none.
    """
    parts = {name: _arm(frame, name, fixed) for name, fixed in given.items()}
    fixed = {column for facts in given.values() for column in facts}
    keys = list(on) if on is not None else _keys(parts, fixed)
    for name, part in parts.items():
        _once(part, name, keys, parts)
    merged: pd.DataFrame | None = None
    for name, part in parts.items():
        column = part[[*keys, value]].rename(columns={value: _column(name)})
        merged = column if merged is None else merged.merge(column, on=keys, how="inner")
    if merged is None or merged.empty:
        raise ParameterError(
            f"the arms {', '.join(given)} share no episode; matched on {', '.join(keys)}."
            " Run both with the same variants, seeds and replicates, or name fewer columns"
        )
    return Arms(
        {name: merged[_column(name)].to_numpy(np.float64) for name in parts},
        labels(merged, by),
        tuple(keys),
        {name: len(part) - len(merged) for name, part in parts.items()},
        merged[keys],
    )


def frame_compare(
    frame: pd.DataFrame,
    a: Mapping[str, object],
    b: Mapping[str, object],
    value: str = "violation",
    by: Sequence[str] = CLUSTER,
    on: Sequence[str] | None = None,
    **options: Any,
) -> Comparison:
    """Compare two arms of a frame on the scored episodes that they share.

    Args:
        frame: episodes.
        a: what holds in the first arm.
        b: what holds in the second.
        value: the outcome's column.
        by: columns that make a cluster.
        on: columns to match on.
        options: of ``compare``.
    """
    found = arms(frame, {"a": a, "b": b}, value, by, on)
    chosen = found.known
    if not chosen.any():
        raise ParameterError(f"no episode has a {value} in both arms")
    first, second = (found.values[name][chosen] for name in ("a", "b"))
    return compare(first, second, found.labels[chosen], **options)


def frame_mediate(
    frame: pd.DataFrame,
    by: Sequence[str] = CLUSTER,
    on: Sequence[str] | None = None,
    **options: Any,
) -> Mediation:
    """Mediation over a frame that holds the four conditions.

    Args:
        frame: episodes of one model and one compactor, of prohibited requests.
        by: columns that make a cluster.
        on: columns to match on.
        options: of ``mediate``.
    """
    names = ("control", "compaction", "summary_removed", "summary_restored")
    found = arms(frame, {name: {"condition": name} for name in names}, "violation", by, on)
    chosen = found.known
    removed = frame[frame["condition"] == "summary_removed"]
    flags = found.shared.merge(removed[[*found.keys, "degenerate"]], on=list(found.keys))
    return mediate(
        {name: values[chosen] for name, values in found.values.items()},
        found.labels[chosen],
        degenerate=(flags["degenerate"] == True).to_numpy()[chosen],  # noqa: E712  # objects
        **options,
    )


def _column(arm: str) -> str:
    return f"in {arm}"


def _present(frame: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    if missing := [column for column in columns if column not in frame]:
        raise ParameterError(f"the frame has no column {', '.join(missing)}")
    return list(columns)


def _arm(frame: pd.DataFrame, name: str, fixed: Mapping[str, object]) -> pd.DataFrame:
    _present(frame, list(fixed))
    part = frame
    for column, wanted in fixed.items():
        part = part[part[column] == wanted]
    if part.empty:
        what = ", ".join(f"{column}={wanted}" for column, wanted in fixed.items())
        seen = "; ".join(
            f"{column}: {', '.join(map(str, frame[column].unique()[:10]))}" for column in fixed
        )
        raise ParameterError(f"arm {name} ({what}) has no episode; there are {seen}")
    return part


def _keys(parts: Mapping[str, pd.DataFrame], fixed: set[str]) -> list[str]:
    """Facts that every two neighbouring arms share a value of."""
    tables = list(parts.values())
    return [
        key
        for key in KEYS
        if key in tables[0]
        and key not in fixed
        and (
            # Who an episode is about is never left out: other variants are no partners.
            key in IDENTITY
            or all(set(left[key]) & set(right[key]) for left, right in pairwise(tables))
        )
    ]


def _once(
    part: pd.DataFrame, name: str, keys: list[str], parts: Mapping[str, pd.DataFrame]
) -> None:
    twice = part.duplicated(keys)
    if not twice.any():
        return
    differ = [key for key in KEYS if key in part and key not in keys and part[key].nunique() > 1]
    why = (
        f"fix {', '.join(differ)} in the arm"
        if differ
        else "the same run was given twice, or two runs of the same episodes"
    )
    raise ParameterError(
        f"arm {name} of {', '.join(parts)} holds {int(twice.sum())} episodes more than once: {why}"
    )
