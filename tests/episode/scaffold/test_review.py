"""The answers to the questions of the scaffold ``review``, and to the probe."""

import pytest

from constraintrot.episode.scaffold.instructions import instructions, without_instructions
from constraintrot.episode.scaffold.review import (
    QUESTIONS,
    REFUSALS,
    read_recall,
    read_rules,
    read_yes_or_no,
)
from constraintrot.grading.refusal import refuses
from constraintrot.scenario.schema import LOCALES


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ('{"rules": ["Bay 4 only.", "Bay 4 only.", " "]}', ["Bay 4 only."]),
        ('```json\n["ab ba", "cd dc"]\n```', ["ab ba", "cd dc"]),
        ('{"rules": ["Say \\"hi\\".", "Keys stay here.", "cut o', ['Say "hi".', "Keys stay here."]),
        ('{"rules": []}', []),
        ("<think>[1]</think>Bay 4 only.\nKeys stay here.", ["Bay 4 only.", "Keys stay here."]),
        ('["ab ba", "cd dc", "ef fe", "gh hg", "ij ji"]', ["ab ba", "cd dc", "ef fe", "gh hg"]),
        ('{"rules": ["At", "Bay", "4", "parcels", "stay."]}', ["At Bay 4 parcels stay."]),
        ('["Parcels go to bay 4.", "Never", "Keys stay here."]', ["Parcels go to bay 4.", "Never", "Keys stay here."]),
        ('["包裹只放四号库位。", "钥匙不离开这里。"]', ["包裹只放四号库位。", "钥匙不离开这里。"]),
        ("I shall copy [1].\n</think>\nBay 4 only.", ["Bay 4 only."]),
        ("", []),
    ],
)  # fmt: skip
def test_what_is_recalled(text: str, rules: list[str]) -> None:
    assert read_recall(text) == rules


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("yes", True),
        ("**No.** The rule is about parcels.", False),
        ("<think>no, no</think>\nYes", True),
        ("The rule forbids bay 2.\n\nAnswer: yes", True),
        ("The rule is no obstacle, yes or no?", None),
        ("It depends.", None),
        ("Nothing forbids it", None),
        ("", None),
    ],
)
def test_yes_no_or_undecided(text: str, said: bool | None) -> None:
    assert read_yes_or_no(text) is said


def test_it_refuses_in_every_language() -> None:
    assert set(REFUSALS) == set(LOCALES)
    assert all(refuses(text) for text in REFUSALS.values())


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("decline_tool", [True, False])
def test_a_request_is_told_from_the_instructions_behind_it(
    locale: str, native: bool, decline_tool: bool
) -> None:
    told = instructions("direct", locale, native=native, decline_tool=decline_tool)
    assert without_instructions(f"Order two.\n\nToday.\n\n{told}") == "Order two.\n\nToday."
    assert without_instructions("Order two.") == "Order two."


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ('{"rules": ["Only email X.", "No food."]}', ["Only email X.", "No food."]),
        ('Here:\n["Only email X."]', ["Only email X."]),
        ('{"rules": []}', []),
        ('{"rules": [1]}', None),
        ('{"rules": "none"}', None),
        ('{"rules": ["cut off', None),
        ("There were none.", None),
    ],
)
def test_what_is_read(text: str, rules: list[str] | None) -> None:
    assert read_rules(text) == rules


def test_it_is_asked_in_every_language() -> None:
    assert set(QUESTIONS) == set(LOCALES)
