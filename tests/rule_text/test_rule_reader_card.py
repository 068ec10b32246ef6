"""The reader's card prints the figures that belong to its adapter, and both are of one file."""

from pathlib import Path

from constraintrot.models.in_process import catalogue
from constraintrot.rule_text.rule_reader import adapter
from results.tools.reading import FOLDER, PAGE, SETS, figures, page, rows
from results.tools.rule_reader.generator import digest
from results.tools.rule_reader.written import examples, held_out

CARD = Path(adapter.__file__).with_name("card.md")


def test_the_adapter_is_the_calibrated_one_and_small() -> None:
    file = adapter.file()
    assert file.stat().st_size < 12_000_000
    assert adapter.calibration().base_sha256 == catalogue.get(adapter.BASE).sha256


def test_its_training_and_held_out_examples_can_be_made_again() -> None:
    found = adapter.calibration()
    assert found.training_sha256 == digest(examples("train", 1, 720))
    assert found.held_out_sha256 == digest(held_out())


def test_the_card_has_the_calibration_and_what_was_read_of_another_hand() -> None:
    card, found = CARD.read_text(encoding="utf-8"), adapter.calibration()
    for task, name in ((found.state, "rules"), (found.standing, "sentences")):
        assert (
            f"{task.examples} questions about {name}: AUC {task.auc}, precision {task.precision},"
            f" recall {task.recall}, calibration error {task.calibration_error}."
        ) in card
    for name in SETS:
        answers = [row for row in rows(FOLDER / "local.csv") if row["set"] == name]
        assert f"| {name} | {' | '.join(figures(answers).cells())} |" in card


def test_the_page_is_of_the_committed_answers() -> None:
    assert page() == PAGE.read_text(encoding="utf-8")


def test_the_reader_claims_no_more_than_it_was_right_of_another_hand() -> None:
    told = [row for row in rows(FOLDER / "local.csv") if row["set"] != "sentences"]
    read, found = adapter.calibration().other_hand, figures(told)
    assert read is not None
    assert (read.items, read.wrong) == (found.decided, found.wrong)
    said = adapter.claim(adapter.reader_name())
    assert f"{read.wrong / read.items:.0%} of {read.items} rules" in said
    assert ("more than a rate" in said) == (read.wrong / read.items > 0.05)
    assert adapter.claim("local:rule-reader-00000000") == adapter.claim("words") == ""
