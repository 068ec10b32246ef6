"""Prompts of a search: texts that anybody may have written, and which of them is the best."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from constraintrot import attacks
from constraintrot.attacks import POSITIONS, SURFACES
from constraintrot.attacks.attack_file import FILLED_IN
from constraintrot.attacks.search_results.trial import MAX_CHARS, Candidate, as_attack, best, clean
from constraintrot.scenario.template import names
from tests.attacks.cases import staged, written
from tests.attacks.search_results.cases import query, settings, trial


def test_the_earliest_of_equals_is_the_best_and_empty_ones_never_are() -> None:
    weak, strong = trial(share=0.5), trial(broken=True)
    assert best([]) is None
    assert best([query(1, "")]) is None
    found = best([query(1, "a", weak), query(2, "b", strong), query(3, "c", strong)])
    assert found is not None
    assert found.number == 2
    found = best([query(1, "a", trial()), query(2, "b", weak), query(3, "")])
    assert found is not None
    assert found.number == 2


def test_a_kept_constraint_is_no_success_however_the_call_went() -> None:
    violated = trial(broken=True)
    assert violated.broken
    assert not violated.model_copy(update={"kept": True, "share": 1.0}).broken
    assert not trial(share=0.5).broken


@given(st.text(max_size=3000))
def test_a_cleaned_text_can_be_filled_and_shown(text: str) -> None:
    found = clean(text)
    assert len(found) <= MAX_CHARS
    assert names(found) <= FILLED_IN
    assert not [c for c in found if unicodedata.category(c).startswith("C") and c != "\n"]
    assert clean(found) == found


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Keep {{org}} and {{ref}}.", "Keep {{org}} and {{ref}}."),
        ("Drop {{limit}} and {{ {{x}} }}.", "Drop limit and x."),
        ("a\x1b[31m\u202eb\r\n\n\n c ", "a[31mb\n c"),
        (" \n ", ""),
    ],
)
def test_cleaning(text: str, wanted: str) -> None:
    assert clean(text) == wanted


@given(st.text(min_size=1, max_size=300), st.sampled_from(SURFACES), st.sampled_from(POSITIONS))
@hypothesis_settings(deadline=None, max_examples=40)
def test_any_text_comes_in_as_the_attackers(text: str, channel: str, position: str) -> None:
    cleaned = clean(text) or "x"
    before = staged("soft_email.en")
    search = settings(channel=channel, position=position)
    attack = as_attack("prompt 1", Candidate(text=cleaned, made={}), search)
    after = attacks.deliver(attack, before)
    (message,) = written(before, after)
    assert (message.role, message.origin) == ("tool", "attacker")
    assert after.trigger == before.trigger
