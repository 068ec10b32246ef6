"""The reader's card prints the figures that belong to its adapter, and both are of one file."""

from __future__ import annotations

from pathlib import Path

from constraintrot.models.in_process import catalogue
from constraintrot.rule_text.rule_reader import adapter
from results.tools.reading import FOLDER, figures, rows
from results.tools.rule_reader.generator import digest, examples

CARD = Path(adapter.__file__).with_name("card.md")


def test_the_adapter_is_the_calibrated_one_and_small() -> None:
    file = adapter.file()
    assert file.stat().st_size < 12_000_000
    assert adapter.calibration().base_sha256 == catalogue.get(adapter.BASE).sha256


def test_its_training_and_held_out_examples_can_be_made_again() -> None:
    found = adapter.calibration()
    assert found.training_sha256 == digest(examples("train", 1, 440))
    assert found.held_out_sha256 == digest(examples("held_out", 2000, 26))


def test_the_card_has_the_calibration_and_what_was_read_of_another_hand() -> None:
    card, state = CARD.read_text(encoding="utf-8"), adapter.calibration().state
    assert (
        f"{state.examples} questions about rules: AUC {state.auc}, precision {state.precision},"
        f" recall {state.recall}, calibration error {state.calibration_error}."
    ) in card
    answers = [row for row in rows(FOLDER / "local.csv") if row["set"] == "states"]
    assert f"| states | {' | '.join(figures(answers))} |" in card
