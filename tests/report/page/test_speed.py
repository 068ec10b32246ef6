"""What makes a report quick: nothing is computed or read twice, and no transcript that is not shown."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from constraintrot.report.page import source
from constraintrot.report.page.detail import Details
from constraintrot.report.page.frames import each, texts, where
from constraintrot.report.page.reading import Reading, head
from constraintrot.stats import bootstrap
from constraintrot.stats.paired import compare
from constraintrot.stats.rate import rate


def test_a_cell_is_resampled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    real = bootstrap.resample

    def counted(*given: Any) -> Any:
        drawn.append(1)
        return real(*given)

    monkeypatch.setattr(bootstrap, "resample", counted)
    labels = np.repeat(np.arange(40), 3)
    first, second = (np.random.default_rng(at).integers(0, 2, 120) for at in (1, 2))
    cells = [rate(first, labels, seed=123) for _ in range(3)]
    assert len(set(cells)) == len(drawn) == 1
    compared = [compare(first, second, labels, seed=123) for _ in range(3)]
    # The difference and the other arm; the first is known.
    assert len(drawn) == 3
    assert len(set(compared)) == 1


def test_a_distinct_value_is_computed_once() -> None:
    seen: list[object] = []

    def shown(value: object) -> str:
        seen.append(value)
        return f"<{value}>"

    column = pd.Series(["a", None, "b", "a", "a"], dtype=object)
    assert list(each(column, shown)) == ["<a>", None, "<b>", "<a>", "<a>"]
    assert seen == ["a", "b"]
    assert list(where(column, lambda value: value in (None, "b"))) == [0, 1, 1, 0, 0]
    # Equal, and not the same.
    assert list(each(pd.Series([True, 1], dtype=object), str)) == ["True", "1"]
    assert texts(pd.DataFrame({"x": [1, 2], "y": ["a", None]}), ("x", "y")) == [
        ("1", "a"), ("2", "None"),
    ]  # fmt: skip


def test_a_parquet_file_s_columns_are_named_without_reading_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pd.DataFrame({"a": [1], "b": ["x"]}).to_parquet(tmp_path / "x.parquet")
    monkeypatch.delattr(pd, "read_parquet")
    assert head(str(tmp_path / "x.parquet")) == ["a", "b"]
    (tmp_path / "no.parquet").write_bytes(b"none")
    assert head(str(tmp_path / "no.parquet")) == []


def test_only_the_transcripts_that_are_shown_are_read_whole(
    scripted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import inspect_ai.log

    whole: list[object] = []
    real = inspect_ai.log.read_eval_log_samples_by_id

    def counted(path: str, names: Any) -> Any:
        whole.extend(names)
        return real(path, names)

    monkeypatch.setattr(inspect_ai.log, "read_eval_log_samples_by_id", counted)
    monkeypatch.setattr(inspect_ai.log, "read_eval_log_samples", None)
    reading = Reading(details=Details(most=5))
    monkeypatch.setattr(source, "Reading", lambda: reading)
    found = source.read([str(scripted)])
    assert len(whole) == len(found.details.kept) == 5
    assert all(one.calls for one in found.details.kept.values())
