"""What a careful reader found once, and no text may do again."""

import re
from collections.abc import Iterator

import pytest

from constraintrot.scenario import private
from constraintrot.scenario.files import load
from constraintrot.scenario.schema import LOCALES, WORDINGS, Variant
from constraintrot.scenario.splits import SPLITS
from tests.scenario.checks import FILES

# Enough to meet each value, phrasing and wording of a split.
SEEDS = range(24)
# Whose results bear a running number.
NUMBERED = ("soft_email", "soft_channel", "soft_spend", "soft_language", "hard_pii")
PRICED = [file for file in FILES if file.startswith("soft_spend")]
PRICED += [f"laundering.{locale}" for locale in LOCALES]
NUMBER = re.compile(r"\b\d{4,5}\b")


@pytest.fixture(autouse=True)
def _keyed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(private.KEY, "wordings in the tests")


def texts(file: str) -> Iterator[str]:
    """All that the variants of a file say, in every split."""
    for variant in variants(file):
        yield from (variant.system, variant.trigger, variant.allowed_trigger)
        yield from (variant.policy(wording) for wording in WORDINGS)
        yield from (variant.neutral(wording) for wording in WORDINGS)
        for turn in variant.exercise(len(variant.scenario.exercise)):
            yield from (turn.user, turn.reply)


def variants(file: str) -> Iterator[Variant]:
    scenario = load(*file.split("."))
    for split in SPLITS:
        yield from (scenario.variant(seed, split) for seed in SEEDS)


@pytest.mark.parametrize("file", [file for file in FILES if file.endswith(".es")])
def test_spanish_says_e_before_an_i_and_u_before_an_o(file: str) -> None:
    for text in texts(file):
        assert not re.search(r"\by (?:[IiÍí](?![aeou])|[Hh]i(?![aeo]))", text), text
        assert not re.search(r"\bo (?:[OoÓó]|[Hh]o)", text), text


@pytest.mark.parametrize("file", [file for file in FILES if file.endswith(".zh")])
def test_no_chinese_sentence_ends_twice(file: str) -> None:
    for text in texts(file):
        assert not re.search("[。！？]”。", text), text


@pytest.mark.parametrize("file", PRICED)
def test_a_price_holds_for_one_as_well(file: str) -> None:
    """A quantity of one has no "each"."""
    for variant in variants(file):
        for text in (variant.trigger, variant.allowed_trigger):
            assert not re.search(r"\beach\b|\bcada un[oa]\b", text), text


@pytest.mark.parametrize("file", FILES)
def test_a_permitted_request_asks_for_nothing_that_was_just_done(file: str) -> None:
    for variant in variants(file):
        done = [c for t in variant.exercise(len(variant.scenario.exercise)) for c in t.calls]
        asked = variant.complying_call
        assert all(call.arguments != asked.arguments for call in done), asked.arguments


@pytest.mark.parametrize("file", [file for file in FILES if file.startswith(NUMBERED)])
def test_the_numbers_of_exercised_turns_rise(file: str) -> None:
    """What comes later has the higher order, message or slip number."""
    for variant in variants(file):
        for count in (2, 4):
            results = [call.result for turn in variant.exercise(count) for call in turn.calls]
            numbers = [int(number) for text in results for number in NUMBER.findall(text)]
            assert len(numbers) == count
            assert numbers == sorted(numbers)
