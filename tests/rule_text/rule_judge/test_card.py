"""The model card prints the figures that belong to the adapter."""

from pathlib import Path

from constraintrot.rule_text.rule_judge import adapter

CARD = Path(adapter.__file__).with_name("card.md")


def test_the_card_has_the_calibration_of_the_adapter() -> None:
    card, page = CARD.read_text(encoding="utf-8"), adapter.calibration()
    told = (
        f"On {page.examples} examples of these kinds: AUC {_short(page.auc['all'])} over all,"
        f" {page.forbidden_right:.0%} of the forbidden and {page.allowed_right:.0%} of the allowed"
        f" requests right at the threshold ({page.unseen_forbidden_right:.0%} and"
        f" {page.unseen_allowed_right:.0%} with the threshold from the other kinds), Brier score"
        f" {_short(page.brier)}."
    )
    assert told.replace("%", " %") in card
    rows = [
        f"| {_short(bar.probability)} | {_short(bar.share)} | {bar.count} |"
        for bar in page.reliability
    ]
    assert "\n".join(rows) in card


def _short(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")
