"""Dates in the notations of calls."""

from datetime import date

import pytest

from constraintrot.rule_text.amounts import dates


@pytest.mark.parametrize(
    "text",
    ["2024-03-03", "3 March 2024", "March 3rd, 2024", "Mon, 3rd of March 2024", "3-Mar-2024",
     "Monday, 3. March 2024", "20240303", "2024-03-03T10:00"],
)  # fmt: skip
def test_a_day_is_read_in_every_notation(text: str) -> None:
    assert dates(text) == {date(2024, 3, 3)}


def test_a_day_and_a_month_that_could_be_either_are_both() -> None:
    assert dates("4.3.2024") == {date(2024, 3, 4), date(2024, 4, 3)}
    assert dates("13.13.2024") == set()
