"""Arms, pairs and clusters from a frame of episodes (see ``report.frame``)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from constraintrot.episode.facts import CLUSTER, IDENTITY, KEYS, NONE, REQUEST, SESSION
from constraintrot.errors import ParameterError
from constraintrot.grading.outcome_status import SILENT
from constraintrot.stats.bounds import Bounds, bounds
from constraintrot.stats.interval import Estimate, Floats
from constraintrot.stats.matching import match, taken, united
from constraintrot.stats.mediation import CONDITIONS, Mediation, mediate
from constraintrot.stats.paired import Comparison, compare
from constraintrot.stats.rate import rate

CODE = "cluster"
"""Column of a prepared frame: the number of each row's cluster."""


@dataclass(frozen=True)
class Arms:
    """The episodes that all arms share, in the same order in each arm.

    Attributes:
        values: by arm, the outcome of each episode; nan if unknown.
        unpaired: by arm, number of episodes that some other arm lacks.
        shared: the values of ``keys``, one row per episode.
        index: by arm, the index of each episode's row in the frame; -1 if it has none.
    """

    values: dict[str, Floats]
    labels: npt.NDArray[np.intp]
    keys: tuple[str, ...]
    unpaired: dict[str, int]
    shared: pd.DataFrame
    index: dict[str, npt.NDArray[Any]]

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Mask of the episodes whose outcome is known in every arm."""
        unknown = np.isnan(np.stack(list(self.values.values())))
        return np.asarray(~unknown.any(0), bool)


def labels(frame: pd.DataFrame, by: Sequence[str] = CLUSTER) -> npt.NDArray[np.intp]:
    """Return the cluster of each row, as a number.

    By default a cluster is a variant together with all variants whose request has the same
    text: two seeds that draw the same request are one observation. If there are several
    recorded sessions, each session is a cluster, for all requests at its end.
    """
    if tuple(by) == CLUSTER and CODE in frame:
        # Faster than grouping by texts.
        return by_appearance(frame[CODE].to_numpy())
    variants = _grouped(frame, by)
    if tuple(by) != CLUSTER:
        return variants
    if sessions(frame) > 1:
        known = frame[SESSION].notna().to_numpy()
        return by_appearance(united(variants, _grouped(frame, (SESSION,)), known))
    if not set(REQUEST) <= set(frame):
        return variants
    asked = frame["request"].notna().to_numpy() & (frame["request"].astype(str) != NONE).to_numpy()
    if not asked.any():
        return variants
    of_seed, of_text = (_grouped(frame, names) for names in ((*CLUSTER, "allowed"), REQUEST))
    return by_appearance(united(of_seed, of_text, asked))


def _grouped(frame: pd.DataFrame, by: Sequence[str]) -> npt.NDArray[np.intp]:
    """Return the group of each row by some columns; a missing value is a value of its own."""
    # Ten times as fast as groupby on a frame of a few hundred rows and many columns.
    codes = np.zeros(len(frame), np.intp)
    for name in _present(frame, by):
        own, values = pd.factorize(frame[name], use_na_sentinel=False)
        codes = by_appearance(codes * len(values) + own)
    return codes


def sessions(frame: pd.DataFrame) -> int:
    """Return the number of recorded sessions that are the histories of episodes."""
    return int(frame[SESSION].nunique()) if SESSION in frame else 0


def variants(frame: pd.DataFrame) -> int:
    """Return the number of variants, even if some have the same request."""
    return int(frame.groupby(list(CLUSTER), dropna=False, observed=True).ngroups)


def by_appearance(codes: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Renumber the clusters in order of appearance, on which bootstrap resamples depend."""
    return np.asarray(pd.factorize(codes)[0], np.intp)


def frame_rate(frame: pd.DataFrame, value: str = "violation") -> Estimate:
    """Return the rate of a 0-or-1 column over its scored rows, clustered."""
    values = frame[value].to_numpy(np.float64, na_value=np.nan)
    scored = ~np.isnan(values)
    names = (
        [CODE]
        if CODE in frame
        else [name for name in dict.fromkeys((*CLUSTER, *REQUEST, SESSION)) if name in frame]
    )
    return rate(values[scored], labels(frame[names][scored]))


def frame_bounds(frame: pd.DataFrame) -> Bounds:
    """Bound the rate of violation over unscored rows and unknown outcomes."""
    values = frame["violation"].to_numpy(np.float64, copy=True)
    values[frame["outcome"].isin(SILENT).to_numpy()] = np.nan
    return bounds(values, labels(frame))


def arms(
    frame: pd.DataFrame,
    given: Mapping[str, Mapping[str, object]],
    value: str = "violation",
    on: Sequence[str] | None = None,
    *,
    unmatched: bool = False,
) -> Arms:
    """Match the episodes of two or more arms.

    ``given`` has, by arm, the values that select its rows, such as ``{"defense": "none"}``; ``on``
    are the columns to match on. By default these are all of ``KEYS`` that no arm fixes, without those
    in which two arms have no value in common (a control has no compactor). With ``unmatched``,
    episodes that some arm lacks stay, with nan there.
    """
    fixed = {column for facts in given.values() for column in facts}
    needed = dict.fromkeys((*KEYS, *fixed, *(on or ()), "request", SESSION, CODE, value))
    frame = frame[[name for name in needed if name in frame]]
    parts = {name: select(frame, name, facts) for name, facts in given.items()}
    keys = list(on) if on is not None else _keys(parts, fixed)
    matching = match(list(parts.values()), keys)
    for name, again in zip(parts, matching.again, strict=True):
        _once(again, name, keys, parts)
    positions = np.stack(matching.positions)
    shared = (positions >= 0).all(0)
    if not shared.any():
        raise ParameterError(
            f"the arms {', '.join(given)} share no episode; matched on {', '.join(keys)}."
            " Run both with the same variants, seeds and replicates, or name fewer columns"
        )
    chosen = positions if unmatched else positions[:, shared]
    further = [
        name for name in (CODE, "request", SESSION, "allowed") if name in frame and name not in keys
    ]
    rows = _rows(parts, chosen, [*keys, *further])
    return Arms(
        {
            name: taken(part[value].to_numpy(np.float64), at)
            for (name, part), at in zip(parts.items(), chosen, strict=True)
        },
        labels(rows),
        tuple(keys),
        {name: len(part) - int(shared.sum()) for name, part in parts.items()},
        rows[keys],
        {
            name: np.where(at < 0, -1, part.index.to_numpy()[at])
            for (name, part), at in zip(parts.items(), chosen, strict=True)
        },
    )


def frame_compare(
    frame: pd.DataFrame, a: Mapping[str, object], b: Mapping[str, object]
) -> Comparison:
    """Compare the violations of two arms, given as in ``arms``, on the scored episodes of both."""
    matched = arms(frame, {"a": a, "b": b})
    chosen = matched.known
    if not chosen.any():
        raise ParameterError("no episode has a violation in both arms")
    first, second = (matched.values[name][chosen] for name in ("a", "b"))
    return compare(first, second, matched.labels[chosen])


def frame_mediate(frame: pd.DataFrame) -> Mediation:
    """Compute the mediation of prohibited episodes of one model and one compactor."""
    matched = arms(frame, {name: {"condition": name} for name in CONDITIONS})
    chosen = matched.known
    removed = frame[frame["condition"] == "summary_removed"]
    flags = matched.shared.merge(removed[[*matched.keys, "degenerate"]], on=list(matched.keys))
    return mediate(
        {name: values[chosen] for name, values in matched.values.items()},
        matched.labels[chosen],
        degenerate=(flags["degenerate"] == True).to_numpy()[chosen],  # noqa: E712  # objects
    )


def _present(frame: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    if missing := [column for column in columns if column not in frame]:
        raise ParameterError(f"the frame has no column {', '.join(missing)}")
    return list(columns)


def select(frame: pd.DataFrame, name: str, fixed: Mapping[str, object]) -> pd.DataFrame:
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
    tables = list(parts.values())
    return [
        key
        for key in KEYS
        if key in tables[0]
        and key not in fixed
        and (
            # Always matched: episodes of different variants are not a pair.
            key in IDENTITY
            or all(
                set(left[key].unique()) & set(right[key].unique())
                for left, right in pairwise(tables)
            )
        )
    ]


def _rows(
    parts: Mapping[str, pd.DataFrame], positions: npt.NDArray[np.intp], columns: list[str]
) -> pd.DataFrame:
    """Return columns of the matched episodes, each from the first arm that has it."""
    tables = [part[columns] for part in parts.values()]
    if (positions[0] >= 0).all():
        return tables[0].take(positions[0]).reset_index(drop=True)
    starts = np.cumsum([0, *(len(table) for table in tables[:-1])])
    first = (positions >= 0).argmax(0)
    at = positions[first, np.arange(positions.shape[1])] + starts[first]
    return pd.concat(tables).take(at).reset_index(drop=True)


def _once(again: int, name: str, keys: list[str], parts: Mapping[str, pd.DataFrame]) -> None:
    if not again:
        return
    part = parts[name]
    differ = [key for key in KEYS if key in part and key not in keys and part[key].nunique() > 1]
    why = (
        f"fix {', '.join(differ)} in the arm"
        if differ
        else "the same run was given twice, or two runs of the same episodes"
    )
    raise ParameterError(
        f"arm {name} of {', '.join(parts)} holds {again} episodes more than once: {why}"
    )
