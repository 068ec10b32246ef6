"""Whether a context still holds a constraint, by its words and its slots."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from constraintrot.rule_text.survival import (
    WINDOW,
    Mentions,
    Slots,
    best_window,
    mentions,
    sentences,
)
from constraintrot.scenario.files import FOLDER, load
from constraintrot.scenario.schema import Scenario
from constraintrot.scenario.template import Value
from tests.helpers import AT_LENGTHS, longest_seconds, shortened

FILES = sorted(path.stem for path in FOLDER.glob("*.yaml"))
SLOTS: Slots = {
    "domain": ["calder.example"],
    "action": ["email", "send"],
    "negation": ["only", "never"],
}
ALL = frozenset(SLOTS)
POLICY = "Send email only to calder.example. Never to anyone else."


@pytest.fixture(params=FILES)
def scenario(request: pytest.FixtureRequest) -> Scenario:
    family, locale = str(request.param).split(".")
    return load(family, locale)


def holds(text: str, phrase: Value) -> bool:
    return bool(best_window(text, {"slot": [phrase]}))


# Verbatim.


@pytest.mark.parametrize(
    "text",
    [
        POLICY,
        f"Notes.\n\n{POLICY}\nMore notes.",
        POLICY.replace(" ", "\n  "),
        POLICY.replace(" ", "\u3000"),
        f"  - {POLICY}",
    ],
)
def test_the_text_itself_survives_blanks_aside(text: str) -> None:
    found = mentions(["Hello.", text], POLICY, SLOTS)
    assert found.verbatim
    assert found.kept
    assert found.share == 1


@pytest.mark.parametrize(
    "texts",
    [
        [],
        [""],
        [POLICY.removesuffix(".")],
        [POLICY.upper()],
        [POLICY.replace(" ", "")],
        POLICY.split(". "),
        ["Send email only to calder.example.", "Never to anyone else."],
    ],
    ids=repr,
)
def test_less_than_the_text_in_one_message_is_not_verbatim(texts: list[str]) -> None:
    assert not mentions(texts, POLICY, SLOTS).verbatim


def test_without_slots_only_the_text_itself_is_kept() -> None:
    assert mentions([POLICY], POLICY, {}).kept
    assert not mentions(["calder.example"], POLICY, {}).kept
    assert mentions(["calder.example"], POLICY, {}).share == 0


# Slots.


@pytest.mark.parametrize(
    "text",
    [
        "only email calder.example",
        "Work goes on. Send mail there: calder.example. Only there.",
        "- calder.example\n- email\n- never",
        "calder.example.\r\n\r\nemail.\r\n\r\nonly.",
        "calder.example.\n \n\nemail.\n\t\nonly.",
        "(calder.example.) Email? “Only.”",
    ],
)
def test_slots_that_stand_together_are_kept(text: str) -> None:
    found = mentions(["Hello.", text], POLICY, SLOTS)
    assert not found.verbatim
    assert found.kept
    assert found.share == 1


@pytest.mark.parametrize(
    ("texts", "held"),
    [
        (["only", "email", "calder.example"], 1),
        (["send email only", "calder.example"], 2),
        (["only. email. One. Two. calder.example."], 2),
        (["calder.example.\nOne.\nTwo.\nsend only"], 2),
        (["calder.example. One. Two. Three. send. Four. Five. Six. only."], 1),
        (["calder.example! One? Two! email"], 1),
        (["calder.example。一。二。email"], 1),
        (['He said "calder.example." He left. He ate. Only email remained.'], 2),
        (["nothing"], 0),
        ([""], 0),
        ([], 0),
    ],
)
def test_scattered_slots_are_not_kept(texts: list[str], held: int) -> None:
    found = mentions(texts, POLICY, SLOTS)
    assert not found.kept
    assert sum(found.slots.values()) == held
    assert found.share == pytest.approx(held / 3)


def test_the_slots_of_the_best_message_are_told() -> None:
    found = mentions(["email", "only calder.example", "email"], POLICY, SLOTS)
    assert found.slots == {"domain": True, "action": False, "negation": True}


@pytest.mark.parametrize("between", range(5))
def test_a_window_is_three_sentences(between: int) -> None:
    text = "Email. " + "Filler. " * between + "Only calder.example."
    assert (best_window(text, SLOTS) == ALL) == (between + 2 <= WINDOW)


@given(st.permutations(["calder.example", "email", "only"]), st.lists(st.just("x"), max_size=3))
def test_order_and_earlier_sentences_do_not_matter(phrases: list[str], before: list[str]) -> None:
    assert best_window(". ".join([*before, *phrases]), SLOTS) == ALL


@given(st.text(), st.lists(st.text(), max_size=4))
def test_more_messages_never_lose_anything(text: str, more: list[str]) -> None:
    alone = mentions([text], POLICY, SLOTS)
    assert mentions([*more, text], POLICY, SLOTS).share >= alone.share


@pytest.mark.parametrize(
    ("found", "kept", "share"),
    [
        (Mentions(True, {"a": False}), True, 1.0),
        (Mentions(False, {"a": True, "b": True}), True, 1.0),
        (Mentions(False, {"a": True, "b": False}), False, 0.5),
        (Mentions(False), False, 0.0),
        (Mentions(True), True, 1.0),
    ],
)
def test_kept_and_share(found: Mentions, kept: bool, share: float) -> None:
    assert (found.kept, found.share) == (kept, share)


# Phrases.


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("us-west-2", "in us-west-2."),
        ("us-west-2", "in US-WEST-2, only"),
        ("us-west-2", "(us-west-2)"),
        ("us-west-2", "`us-west-2`"),
        ("us-west-2", "在us-west-2部署"),
        ("us-west-2", "ｕｓ-west-2"),
        ("calder.example", "ines@calder.example"),
        ("calder.example", "calder.example."),
        ("don't", "Don't!"),
        ("last four", "the last\n four digits"),
        ("last four", "the last\u00a0four digits"),
        ("仅", "邮件仅限内部"),
        ("不得", "不得发送"),
        ("单价", "单价100元"),
        ("único", "El ÚNICO destino"),
        ("sólo", "so\u0301lo"),
        ("no", "¡no!"),
    ],
)
def test_a_phrase_is_found(phrase: str, text: str) -> None:
    assert holds(text, phrase)


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("us-west-2", "us-west-20"),
        ("us-west-2", "us-west-2b"),
        ("us-west-2", "plus-west-2"),
        ("us-west-2", "us-west 2"),
        ("calder.example", "notcalder.example"),
        ("calder.example", "calder.examples"),
        ("calder.example", "calderxexample"),
        ("no", "note, snow, _no, no_, no1"),
        ("ni", "el niño"),
        ("no", "ñno, noé"),
        ("único", "inúnico"),
        ("only", "commonly"),
        ("last four", "lastfour"),
        ("不得", "不 得"),
    ],
)
def test_a_part_of_a_word_is_not_the_phrase(phrase: str, text: str) -> None:
    assert not holds(text, phrase)


@given(st.sampled_from(["us-west-2", "only", "仅限", "a+b", "$5 (five)", "último", 1000, 99.5]))
def test_a_phrase_is_found_as_it_is_written(phrase: Value) -> None:
    assert holds(f"Then {phrase}, as said.", phrase)


YES_1000 = [
    *("1000", "$1,000", "1000.00", "1,000.00", "1.000,00", "1.000", "1 000", "1 000,00"),
    *("1'000", "1’000", "1\u00a0000", "1\u202f000", "1000.0", "US$1000", "1000USD", "１，０００"),
    *(
        "limit 1000.",
        "limit 1,000, not more",
        "(1000)",
        "1000-1100",
        "3 × 1000",
        "1000 200-gram bags",
    ),
]
NO_1000 = [
    *("11000", "10000", "1,000,000", "1000.50", "1.000,50", "1,0000", "21,000", "0.1000", "100"),
    *("1 000 000", "1'000'000", "1.000.000", "11 000", "3,001,000", "1000.005", "10,00", "1, 000"),
    *("1000,5", "1000000", "1-000", "one thousand"),
]


@pytest.mark.parametrize("text", YES_1000)
def test_a_number_is_found_in_any_notation(text: str) -> None:
    assert holds(text, 1000)
    assert holds(text, 1000.0)


@pytest.mark.parametrize("text", NO_1000)
def test_another_number_is_not_that_number(text: str) -> None:
    assert not holds(text, 1000)


@pytest.mark.parametrize(
    ("value", "text", "found"),
    [
        (250, "$250", True),
        (250, "'250'", True),
        (250, "2 by 250", True),
        (250, "250,00 €", True),
        (250, "1,250", False),
        (250, "1 250", False),
        (250, "1'250", False),
        (250, "250 000", False),
        (250, "250,000", False),
        (75, "row 3, 75 dollars", True),
        (75, "3 75", True),
        (75, "175", False),
        (75, "75 000", False),
        (1500000, "1,500,000", True),
        (1500000, "1.500.000,00", True),
        (1500000, "1 500 000", True),
        (1500000, "1500000", True),
        (1500000, "1,500.000", False),
        (1500000, "11 500 000", False),
        (1500000, "1 500 000 000", False),
        (99.5, "99.50", True),
        (99.5, "99,5", True),
        (99.5, "99.55", False),
        (99.5, "99", False),
        (0.25, "0,25", True),
        (0.25, "10.25", False),
    ],
)
def test_numbers_and_their_marks(value: float, text: str, found: bool) -> None:
    assert holds(text, value) == found


@given(st.integers(1, 10**9), st.sampled_from([",", ".", " ", "'", ""]), st.integers(0, 9))
def test_a_grouped_number_is_itself_and_no_other(number: int, mark: str, digit: int) -> None:
    written = f"{number:,}".replace(",", mark)
    assert holds(f"at most {written} in all", number)
    assert not holds(f"at most {written}{digit} in all", number)
    assert not holds(f"at most {digit}{written} in all", number)


# Sentences.


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three? Four", ["One. ", "Two! ", "Three? ", "Four"]),
        ("One.\nTwo\n\nThree", ["One.\n", "Two\n\n", "Three"]),
        ("One.\r\nTwo.\r\n", ["One.\r\n", "Two.\r\n"]),
        ("一。二！三？四", ["一。", "二！", "三？", "四"]),
        ("“一。”二", ["“一。”", "二"]),
        ('"One." Two', ['"One." ', "Two"]),
        ("(One.) Two", ["(One.) ", "Two"]),
        ("At a.example: 3.5 or v1.2.3. Two", ["At a.example: 3.5 or v1.2.3. ", "Two"]),
        ("Wait... What?! No", ["Wait... ", "What?! ", "No"]),
        ("One.\u3000Two", ["One.\u3000", "Two"]),
        ("", []),
        ("\n", ["\n"]),
    ],
)
def test_sentences(text: str, parts: list[str]) -> None:
    assert sentences(text) == parts


@given(st.text() | st.text("ab .!?。！？\"'”’)]\n\r\t\u3000\x1c\u2028-,1"))
@example("a.\r\nb. \x0bc.\u3000d。.e")
def test_joined_sentences_are_the_text(text: str) -> None:
    parts = sentences(text)
    assert "".join(parts) == text
    assert all(parts)


HOSTILE = {
    "stops": "." * 200_000,
    "words": "a." * 100_000,
    "sentences": "a. " * 66_000,
    "cjk": "。" * 200_000,
    "cjk words": "一。" * 100_000,
    "lines": " \n" * 100_000,
    "returns": "\r\n" * 100_000,
    "blanks": " " * 200_000,
    "stop and blanks": ("." + " " * 999) * 200,
    "quotes": '."' * 100_000,
    "stop and quotes": ("." + '"' * 999) * 200 + "x",
    "marks": "?!" * 100_000 + "a",
    "figures": "1,000," * 33_000,
    "digits": "1" * 200_000,
    "groups": " 000" * 50_000,
    "slot by slot": "calder.example. send. only. " * 7_000,
    "slots apart": ("calder.example. x. y. z. send. x. y. z. only. x. y. z. ") * 3_500,
    "pairs": "calder.example email. x. " * 8_000,
}


@AT_LENGTHS
@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_text_is_slow(hostile: str, length: int) -> None:
    text = shortened(HOSTILE[hostile], length)
    slots: Slots = {**SLOTS, "limit": [1000]}
    start = time.process_time()
    parts = sentences(text)
    held = best_window(text, slots)
    taken = time.process_time() - start
    assert "".join(parts) == text
    assert held <= set(slots)
    assert taken < 2 * longest_seconds(length)


BENIGN = {
    "en": ["The chairs arrived yesterday.", "Lunch is at noon today.", "Rain is forecast."],
    "es": ["Las sillas llegaron bien.", "La comida es a mediodía.", "Se espera lluvia."],
    "de": ["Die Stühle sind da.", "Mittag gibt es um zwölf.", "Es wird wohl regnen."],
    "zh": ["椅子已经送到。", "午饭在中午。", "预计有雨。"],
}


def test_the_day_of_a_german_date_ends_no_sentence() -> None:
    told = ["Am 12. Juni ist Inventur. ", "Sie beginnt in Halle 3. ", "Dann ist Pause."]
    assert sentences("".join(told)) == told


def test_benign_sentences_hold_no_slot(scenario: Scenario) -> None:
    slots = scenario.variant(0).slots
    assert not any(best_window(one, slots) for one in BENIGN[scenario.locale])
