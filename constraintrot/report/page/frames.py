"""The tidy frame of a report, written as CSV and Parquet and read again without loss."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from constraintrot import files
from constraintrot.episode.facts import COLUMNS as FACTS
from constraintrot.episode.facts import KEYS, LATER, SESSION
from constraintrot.errors import ConstraintRotError
from constraintrot.report import untrusted
from constraintrot.report.frame import OLD_NAMES
from constraintrot.rule_text.survival.states import PRIMARY

NAMES = ("episodes.csv", "episodes.parquet")
NEEDED = ("family", "condition", "agent", "seed", "violation", "outcome")
# Values of columns that older frames lack.
_DEFAULTS: dict[str, object] = {
    "distractors": 0, "allowed": False, "replicate": 0, "attack": "none", "defense": "none",
    "harness": "replay", "channel": "user", "wording": "declarative", "locale": "en",
}  # fmt: skip
_TRUTH = {"True": True, "False": False}
_NUMBERS = (
    "violation", "utility", "over_refusal", "survived", "bound", "verbatim", "mentions", "mentions_share",
    "judge", "recalled", "probed",
    "tokens_before", "tokens_after", "input_tokens", "cached_tokens", "output_tokens",
    "last_input_tokens", "seconds", "seconds_defense", "seconds_compaction", "defense_calls",
    "prefix_tokens", "prefix_broken", "removed_characters", "removed_tokens", "summary_retries",
    "summary_cut",
)  # fmt: skip
_TEXTS = (
    "episode", "created", "status", "log", "task", "kind", "outcome", "reason", "state", "measure",
)  # fmt: skip
_ALL = dict.fromkeys((*_TEXTS[:3], *FACTS, *KEYS, *_TEXTS[3:], *_NUMBERS))
COLUMNS = tuple(name for name in _ALL if name != SESSION)
"""Columns of every frame; a frame of recorded sessions has their names, too."""


def tidy(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the same episodes with all of ``COLUMNS``, and one type per kind of value.

    pandas reads a CSV column of ``none`` and numbers as text, and a column of integers
    with gaps as floats; here ``"60"`` and ``60.0`` are 60 again.
    """
    rows = rows.rename(columns={a: b for a, b in OLD_NAMES.items() if b not in rows})
    gaps = {name: _DEFAULTS.get(name) for name in COLUMNS if name not in rows}
    columns: dict[str, Any] = {}
    for name in COLUMNS:
        if name in gaps:
            columns[name] = pd.Series([gaps[name]] * len(rows), dtype=object)
        else:
            columns[name] = rows[name].reset_index(drop=True)
        if name in _NUMBERS:
            columns[name] = pd.to_numeric(columns[name]).astype(float)
        elif name not in gaps:
            columns[name] = pd.Series(each(columns[name], plain), dtype=object)
    frame = pd.DataFrame(columns)
    # Allowed and prohibited requests are never pooled, so a value that says neither is no gap.
    if unclear := [one for one in frame["allowed"] if one not in (True, False)]:
        raise ValueError(f"allowed is {unclear[0]!r}; write True or False, or 1 or 0")
    frame["allowed"] = frame["allowed"].astype(bool)
    _fill_survival(frame)
    without_id = frame["episode"].isna()
    if without_id.any():
        ids = [_digest(row) for row in frame[without_id].itertuples(index=False)]
        frame.loc[without_id, "episode"] = ids
    if SESSION in rows and rows[SESSION].notna().any():
        frame[SESSION] = rows[SESSION].astype(object).to_numpy()
    return frame


def _fill_survival(found: pd.DataFrame) -> None:
    """Fill in the measure of each episode's survival: by mentions if there is no state.

    An undecided reader's verdict is in the state, and ``survived`` is then empty.
    """
    old = found["survived"].isna() & found["state"].isna() & found["mentions"].notna()
    known = found["survived"].notna()
    found["measure"] = [
        "mentions" if before else said or (PRIMARY if is_known else None)
        for before, said, is_known in zip(old, found["measure"], known, strict=True)
    ]
    found.loc[old, "survived"] = found.loc[old, "mentions"]


def read(path: str, data: bytes | None = None) -> pd.DataFrame:
    """Read a frame from a CSV or Parquet file or URL."""
    parquet = path.endswith(".parquet")
    source: Any = path if data is None else BytesIO(data)
    try:
        rows = (
            pd.read_parquet(source, engine="pyarrow")
            if parquet
            else pd.read_csv(source, keep_default_na=False, na_values=[""], low_memory=False)
        )
    except (OSError, ValueError, ImportError) as error:
        raise ConstraintRotError(f"{path} is no readable frame: {error}") from error
    missing = [name for name in NEEDED if name not in rows]
    if missing:
        raise ConstraintRotError(
            f"{path} is no frame of episodes: it has no column {', '.join(missing)};"
            " give one that `constraintrot report` or `constraintrot table --csv` wrote"
        )
    try:
        return tidy(rows if parquet else _texts(rows, untrusted.unescape_cell))
    except (TypeError, ValueError, OverflowError, KeyError, AttributeError) as error:
        raise ConstraintRotError(f"{path} has a cell of a wrong kind: {error}") from error


def is_frame(path: str, columns: Sequence[str]) -> bool:
    """Return whether a file with these columns is a frame of episodes."""
    return path.endswith((".csv", ".parquet")) and set(NEEDED) <= set(columns)


def write(frame: pd.DataFrame, folder: Path) -> tuple[Path, Path]:
    """Write ``episodes.csv``, safe for spreadsheets, and ``episodes.parquet``."""
    as_csv, parquet = (folder / name for name in NAMES)
    files.write(as_csv, csv_text(frame), ConstraintRotError)
    files.write(parquet, parquet_bytes(frame), ConstraintRotError)
    return as_csv, parquet


def parquet_bytes(frame: pd.DataFrame) -> bytes:
    """Return a frame as Parquet; all values but numbers and truth values become text."""
    typed = frame.copy()
    for name in {*COLUMNS, SESSION} & set(typed) - {*_NUMBERS, "allowed"}:
        typed[name] = each(typed[name], lambda value: untrusted.visible(str(value)))
    file = BytesIO()
    typed.to_parquet(file, engine="pyarrow", index=False)
    return file.getvalue()


def csv_text(frame: pd.DataFrame) -> str:
    """Return a frame as CSV in which a spreadsheet computes no cell and no column name."""
    safe = _texts(frame, _escaped).rename(columns=_escaped)
    return str(safe.to_csv(index=False, lineterminator="\n"))


def _escaped(text: str) -> str:
    return untrusted.escape_cell(untrusted.visible(text))


def _texts(frame: pd.DataFrame, function: Callable[[str], str]) -> pd.DataFrame:
    columns: dict[Any, pd.Series[Any]] = {}
    for name, values in frame.items():
        columns[name] = values
        if values.dtype.kind == "O":
            known = {one: function(one) for one in set(values) if isinstance(one, str)}
            changed = [known[one] if isinstance(one, str) else one for one in values]
            columns[name] = pd.Series(changed, frame.index, object)
    return pd.DataFrame(columns, index=frame.index)


def plain(value: Any) -> object:
    """Convert a value to None (a gap), int (also of digits), a truth value, or shortened text."""
    if value is None or value != value:
        return None
    if isinstance(value, str):
        if value.isascii() and value.isdigit() and len(value) < 16:
            return int(value)
        if value in _TRUTH:
            # Parquet stores truth values as text if the column has gaps too.
            return _TRUTH[value]
        return value if len(value) <= untrusted.CELL else untrusted.cut(value, untrusted.CELL)
    if isinstance(value, bool):
        return value
    if hasattr(value, "item"):
        value = value.item()
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _digest(row: Any) -> str:
    # The ids of frames that lack a later fact stay as they are.
    held = [name for name in KEYS if name not in LATER or getattr(row, name) is not None]
    facts = "\x1f".join(str(getattr(row, name)) for name in (*held, "log", "outcome"))
    return f"row-{hashlib.sha256(facts.encode()).hexdigest()[:24]}"


def each(values: pd.Series[Any], function: Callable[[Any], object]) -> npt.NDArray[np.object_]:
    """Return a function's results by row, each distinct value computed once; a gap is None."""
    codes, distinct = pd.factorize(values)
    kinds = list(distinct)
    if any(isinstance(one, bool) for one in kinds):
        # True and 1 are equal, and would be one value.
        found = [None if one is None or one != one else function(one) for one in values]
        return _objects(found)
    return _objects([*map(function, kinds), None])[codes]


def where(values: pd.Series[Any], test: Callable[[Any], bool]) -> npt.NDArray[np.bool_]:
    """Return which rows' values pass a test, each distinct value tested once; a gap is None."""
    codes, distinct = pd.factorize(values)
    return np.asarray([*map(test, distinct), test(None)], bool)[codes]


def texts(frame: pd.DataFrame, names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return some columns as texts, a tuple per row; a gap is the text ``None``."""
    columns = [each(frame[name], str) for name in names]
    return list(zip(*([str(one) for one in column] for column in columns), strict=True))


def _objects(values: list[object]) -> npt.NDArray[np.object_]:
    array = np.empty(len(values), object)
    array[:] = values
    return array
