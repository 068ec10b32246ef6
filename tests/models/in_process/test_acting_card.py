"""The acting adapter's card prints the figures that belong to it, and a name alone finds its file."""

from pathlib import Path

import pytest

from constraintrot.errors import ParameterError, WeightsError
from constraintrot.models.in_process import acting
from constraintrot.models.in_process.request import acting_adapter

CARD = Path(acting.__file__).with_name("card.md")


def test_the_card_has_the_figures_of_the_adapter() -> None:
    card, page = CARD.read_text(encoding="utf-8"), acting.calibration()
    for cell, requests in page.requests.items():
        acted, exact = (_share(shares[cell]) for shares in (page.acted, page.exact))
        (row,) = [line for line in card.splitlines() if line.startswith(f"| {cell}:")]
        assert row.endswith(f"| {requests} | {acted} | {exact} |")
    assert f"--conversations {page.conversations}`" in card


def test_the_name_alone_finds_the_packaged_file_and_no_other_name_does() -> None:
    base = "qwen2.5-coder-1.5b"
    assert acting_adapter(f"{base}+acting", None) == acting.file()
    for name in (f"{base}+other", "qwen2.5-coder-0.5b+acting"):
        with pytest.raises(ParameterError, match="wants the adapter's file"):
            acting_adapter(name, None)


def test_a_file_that_is_not_the_calibrated_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "acting.gguf").write_bytes(b"GGUF, others")
    figures = CARD.with_name("calibration.json")
    (tmp_path / figures.name).write_bytes(figures.read_bytes())
    with pytest.raises(WeightsError, match="is damaged, or another adapter"):
        acting.file(tmp_path)


def _share(value: float) -> str:
    return f"{100 * value:g} %"
