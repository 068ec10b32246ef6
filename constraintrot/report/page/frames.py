"""The tidy frame of a report, written as CSV and Parquet and read again without loss."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from constraintrot.episode.facts import COLUMNS as FACTS
from constraintrot.episode.facts import KEYS
from constraintrot.errors import ConstraintRotError
from constraintrot.report import untrusted
from constraintrot.report.frame import OLD_NAMES
from constraintrot.report.page.columns import each
from constraintrot.rule_text.survival.states import PRIMARY

if TYPE_CHECKING:
    import pandas as pd

NAMES = ("episodes.csv", "episodes.parquet")
NEEDED = ("family", "condition", "agent", "seed", "violation", "outcome")
# Values of columns that older frames lack.
_DEFAULTS: dict[str, object] = {
    "distractors": 0, "allowed": False, "replicate": 0, "attack": "none", "defense": "none",
    "harness": "replay", "channel": "user", "wording": "declarative", "locale": "en",
}  # fmt: skip
_TRUTH = {"True": True, "False": False}
_NUMBERS = (
    "violation", "utility", "over_refusal", "survived", "verbatim", "mentions", "mentions_share",
    "judge", "recalled", "probed",
    "tokens_before", "tokens_after", "input_tokens", "cached_tokens", "output_tokens",
    "last_input_tokens", "seconds", "seconds_defense", "seconds_compaction", "defense_calls",
    "prefix_tokens", "prefix_broken", "removed_characters", "removed_tokens", "summary_retries",
)  # fmt: skip
_TEXTS = (
    "episode", "created", "status", "log", "task", "kind", "outcome", "reason", "state", "measure",
)  # fmt: skip
COLUMNS = tuple(dict.fromkeys((*_TEXTS[:3], *FACTS, *KEYS, *_TEXTS[3:], *_NUMBERS)))


def tidy(rows: pd.DataFrame) -> pd.DataFrame:
    """The same episodes with all of ``COLUMNS``, and one type per kind of value.

    pandas reads a CSV column of ``none`` and numbers as text, and a column of integers
    with gaps as floats; here ``"60"`` and ``60.0`` are 60 again.
    """
    import pandas as pd

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
    frame["allowed"] = [value is True or value == "True" for value in frame["allowed"]]
    _fill_survival(frame)
    without_id = frame["episode"].isna()
    if without_id.any():
        ids = [_digest(row) for row in frame[without_id].itertuples(index=False)]
        frame.loc[without_id, "episode"] = ids
    return frame


def _fill_survival(found: pd.DataFrame) -> None:
    """Say by which measure each episode survived; one without a state has its mentions only."""
    old = found["survived"].isna() & found["mentions"].notna()
    known = found["survived"].notna()
    found["measure"] = [
        "mentions" if before or said == "mentions" else PRIMARY if is_known else None
        for before, said, is_known in zip(old, found["measure"], known, strict=True)
    ]
    found.loc[old, "survived"] = found.loc[old, "mentions"]


def read(path: str) -> pd.DataFrame:
    """Read a frame from a CSV or Parquet file or URL.

    Raises:
        ConstraintRotError: the file cannot be read, or is no frame of episodes.
    """
    import pandas as pd

    parquet = path.endswith(".parquet")
    try:
        rows = (
            pd.read_parquet(path, engine="pyarrow")
            if parquet
            else pd.read_csv(path, keep_default_na=False, na_values=[""], low_memory=False)
        )
    except (OSError, ValueError, ImportError) as error:
        raise ConstraintRotError(f"{path} is no readable frame: {error}") from error
    missing = [name for name in NEEDED if name not in rows]
    if missing:
        raise ConstraintRotError(
            f"{path} is no frame of episodes: it has no column {', '.join(missing)};"
            " give one that `constraintrot report` or `constraintrot table --csv` wrote"
        )
    return tidy(rows if parquet else _texts(rows, untrusted.unescape_cell))


def is_frame(path: str, columns: Sequence[str]) -> bool:
    """Whether a file with these columns is a frame of episodes."""
    return path.endswith((".csv", ".parquet")) and set(NEEDED) <= set(columns)


def write(frame: pd.DataFrame, folder: Path) -> tuple[Path, Path]:
    """Write ``episodes.csv``, safe for spreadsheets, and ``episodes.parquet``."""
    as_csv, parquet = (folder / name for name in NAMES)
    as_csv.write_text(csv_text(frame), encoding="utf-8", newline="")
    parquet.write_bytes(parquet_bytes(frame))
    return as_csv, parquet


def parquet_bytes(frame: pd.DataFrame) -> bytes:
    """A frame as Parquet; what is neither a number nor a truth value is text."""
    typed = frame.copy()
    for name in set(COLUMNS) - {*_NUMBERS, "allowed"}:
        typed[name] = each(typed[name], lambda value: untrusted.visible(str(value)))
    file = BytesIO()
    typed.to_parquet(file, engine="pyarrow", index=False)
    return file.getvalue()


def csv_text(frame: pd.DataFrame) -> str:
    """A frame as CSV whose cells, column names included, no spreadsheet computes."""
    safe = _texts(frame, _escaped).rename(columns=_escaped)
    return str(safe.to_csv(index=False, lineterminator="\n"))


def _escaped(text: str) -> str:
    return untrusted.escape_cell(untrusted.visible(text))


def _texts(frame: pd.DataFrame, function: Callable[[str], str]) -> pd.DataFrame:
    """The frame with a function's results instead of its texts, computed once for equal ones."""
    import pandas as pd

    columns: dict[Any, pd.Series[Any]] = {}
    for name, values in frame.items():
        columns[name] = values
        if values.dtype.kind == "O":
            known = {one: function(one) for one in set(values) if isinstance(one, str)}
            changed = [known[one] if isinstance(one, str) else one for one in values]
            columns[name] = pd.Series(changed, frame.index, object)
    return pd.DataFrame(columns, index=frame.index)


def plain(value: Any) -> object:
    """A value as None (for a gap), int (also of digits), a truth value, or shortened text."""
    if value is None or value != value:
        return None
    if isinstance(value, str):
        if value.isascii() and value.isdigit() and len(value) < 16:
            return int(value)
        if value in _TRUTH:
            # Parquet has truth values as text where a column has gaps too.
            return _TRUTH[value]
        return value if len(value) <= untrusted.CELL else untrusted.cut(value, untrusted.CELL)
    if isinstance(value, bool):
        return value
    if hasattr(value, "item"):
        value = value.item()
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _digest(row: Any) -> str:
    """An id for an episode that has none; equal rows have equal ids."""
    facts = "\x1f".join(str(getattr(row, name)) for name in (*KEYS, "log", "outcome"))
    return f"row-{hashlib.sha256(facts.encode()).hexdigest()[:24]}"
