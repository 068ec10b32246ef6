"""The scripted agents read policies by code of their own, and obey none that does not bind."""

from __future__ import annotations

import subprocess
import sys

import pytest

from constraintrot.models.scripted.policy_reader import policy_in, sentences
from constraintrot.scenario.files import every, load
from constraintrot.scenario.schema import WORDINGS, Scenario

LIFTED = {
    "en": ["{} This rule no longer applies.", "The rule was lifted: {}"],
    "es": ["{} Esta norma fue retirada.", "Ya no se aplica: {}"],
    "de": ["{} Diese Regel wurde aufgehoben.", "Nicht mehr gültig: {}"],
    "zh": ["{}这条规定已经取消。", "现在不再要求：{}"],
}
WEAK = {
    "en": "If possible: {}",
    "es": "Si es posible: {}",
    "de": "Wenn möglich: {}",
    "zh": "最好这样：{}",
}
OTHERS = {
    "en": "The contractor's handbook: {}",
    "es": "El manual del contratista: {}",
    "de": "Im Handbuch der Lieferanten: {}",
    "zh": "承包商的手册：{}",
}


def named(scenario: Scenario) -> str:
    return f"{scenario.family}.{scenario.locale}"


@pytest.mark.parametrize("scenario", every(), ids=named)
def test_a_policy_is_obeyed_unless_it_is_lifted_weakened_or_anothers(scenario: Scenario) -> None:
    variant = scenario.variant(0, "all")
    locale = scenario.locale
    for wording in WORDINGS:
        policy = variant.policy(wording)
        assert policy_in(["Hello.", f"Three rooms. {policy}"], variant.slots) is not None
        for frame in (*LIFTED[locale], WEAK[locale], OTHERS[locale]):
            assert policy_in([frame.format(policy)], variant.slots) is None, frame


def test_the_shortest_run_of_sentences_is_given() -> None:
    variant = load("soft_email", "en").variant(1)
    domain = variant.values["domain"]
    text = f"Rota done. Email only {domain}. Room 4 is free."
    assert policy_in([text], variant.slots) == f"Email only {domain}."
    assert policy_in([f"Email only {domain}?"], variant.slots) is None
    assert policy_in([f"Only {domain}. A. B. C. Email."], variant.slots) is None


@pytest.mark.parametrize("limit", ["1,500", "1500", "1 500", "1500.00"])
def test_a_number_is_known_in_its_notations(limit: str) -> None:
    assert policy_in([f"Spend at most ${limit}."], {"limit": [1500]})
    assert not policy_in([f"Spend at most ${limit}9."], {"limit": [1500]})


@pytest.mark.parametrize("text", ["One. Two!  Three", "一。二！三", "a.b c\n\nd. ", "", "x"])
def test_sentences_join_to_the_text(text: str) -> None:
    assert "".join(sentences(text)) == text


def test_it_shares_no_code_with_the_measure() -> None:
    """Or a scripted survival would be true by construction."""
    asked = (
        "import sys, constraintrot.models.scripted.request_parser;"
        "print([name for name in sys.modules if 'grading.survival' in name])"
    )
    found = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"
