"""The episodes of stores as a compact frame: millions of them in some hundred MB."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from constraintrot.episode.facts import KEYS
from constraintrot.errors import ConstraintRotError, ParameterError
from constraintrot.extras import require
from constraintrot.grading.outcome_status import MISSING
from constraintrot.report.episode_counts import ERRORED, NOT_PLAYED, fill_facts
from constraintrot.report.facts import FACTS, text
from constraintrot.report.store import Commit, Store
from constraintrot.report.store.columns import read
from constraintrot.stats.matching import numbered

TEXTS = tuple(dict.fromkeys((*FACTS, "allowed", "status", "outcome", "degenerate")))
# Paths with these endings are files, not stores.
_FILES = (".eval", ".json", ".csv", ".parquet")
NUMBERS = ("violation", "utility", "tokens_after")
IDS = ("summary_draw", "request")


@dataclass(frozen=True)
class Stored:
    """A store, and its cells that were found, sorted by the start of their runs."""

    store: Store
    commits: Sequence[Commit]

    @property
    def rows(self) -> int:
        return sum(one.rows for one in self.commits)


def stores(given: Sequence[str]) -> list[Stored]:
    """Return the stores of paths and URLs; empty if none of them is a store."""
    found = [store for one in given if not one.endswith(_FILES) and (store := Store(one)).exists]
    if not found:
        return []
    if len(found) < len(given):
        raise ParameterError(
            f"{found[0].url} is a store of results, and not all that was given are; give stores"
            " alone, or logs and frames alone (`constraintrot store add` commits a log)"
        )
    require("reading a store", "report")
    read_now = [Stored(store, store.commits()) for store in found]
    for one in read_now:
        if not one.commits:
            raise ConstraintRotError(f"{one.store.url} has no committed cell yet")
    return read_now


def planned(given: Sequence[Stored]) -> pd.DataFrame:
    """Read all planned episodes of stores, with facts as text, played ones first.

    Returns:
        The columns of ``report.planned.planned_episodes`` that ``compare`` reads; each fact is
        a categorical column of texts, as ``report.facts.named`` writes them.
    """
    parts = [frame(one, TEXTS, NUMBERS, IDS) for one in given]
    whole = parts[0] if len(parts) == 1 else _joined(parts)
    lost = whole["status"].isin([ERRORED, NOT_PLAYED]).to_numpy()
    if not lost.any():
        return whole
    whole.loc[lost, "violation"] = np.nan
    whole["outcome"] = whole["outcome"].cat.add_categories(
        [MISSING] if MISSING not in whole["outcome"].cat.categories else []
    )
    whole.loc[lost, "outcome"] = MISSING
    fill_facts(whole, lost)
    order = np.concatenate([np.flatnonzero(~lost), _once(whole, lost)])
    return pd.DataFrame(whole.take(order)).reset_index(drop=True)


def _once(frame: pd.DataFrame, lost: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    """Return the positions of the episodes that no cell has finished, each once."""
    numbers = numbered([frame], KEYS)
    finished = np.zeros(int(numbers.max()) + 1, bool)
    finished[numbers[~lost]] = True
    missing = np.flatnonzero(lost & ~finished[numbers])
    return missing[np.sort(np.unique(numbers[missing], return_index=True)[1])]


def frame(
    one: Stored, texts: Sequence[str], numbers: Sequence[str], ids: Sequence[str]
) -> pd.DataFrame:
    """Read some columns of a store's planned episodes, in the order of its cells.

    ``texts`` have few distinct values and become categorical, with values as ``report.facts.text``
    writes them; ``allowed`` and ``degenerate`` become truth values. ``ids`` have many; equal texts
    become equal numbers.
    """
    columns = read(one.store, one.commits, texts, numbers, ids)
    made: dict[str, Any] = {}
    for name in list(columns.texts):
        coded = columns.texts.pop(name).mapped(text)
        made[name] = coded.series()
        if name == "allowed":
            made[name] = np.asarray([one == "true" for one in coded.values])[coded.codes]
        elif name == "degenerate":
            made[name] = made[name].cat.rename_categories({"true": True, "false": False})
    for name in list(columns.numbers):
        made[name] = columns.numbers.pop(name)
    for name, digests in columns.ids.items():
        made[name] = pd.arrays.IntegerArray(digests, digests == 0)
    return pd.DataFrame(made)


def _joined(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    from pandas.api.types import union_categoricals

    columns: dict[str, Any] = {}
    for name in parts[0]:
        values = [part[name] for part in parts]
        if isinstance(values[0].dtype, pd.CategoricalDtype):
            columns[str(name)] = pd.Series(union_categoricals(values))
        else:
            columns[str(name)] = pd.concat(values, ignore_index=True)
    return pd.DataFrame(columns)
