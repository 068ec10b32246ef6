"""Bullets that differ in a number are two facts: neither a MERGE nor likeness joins them."""

from unicodedata import normalize

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from constraintrot.memory.playbook import LAZY, Add, Merge, Playbook, Vectors, opposed
from constraintrot.rule_text.said import reads_as_rule
from tests.memory.playbook.test_similarity import same_vector

WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
SENTENCES = (
    "{}",
    "Port {}.",
    "Refunds of {} go through the desk of the ground floor.",
    "The export waits for {} and goes on.",
    "发票在{}后导出。",
)
# Forms of a number that read the same.
FORMS = (str, lambda n: f"{n:,}", lambda n: WORDS[n] if n < len(WORDS) else str(n))
# What may be round it, and makes another quantity of it.
AROUND = (
    "{}", "{} minutes", "{} hours", "{} KB", "{} MB", "{}%", "${}", "€{}", "-{}", "< {}", "> {}",
    "v1.{}", "{}:30", "{} am", "{} pm", "2026-03-{}", "March {}", "April {}", "10.0.0.{}",
)  # fmt: skip
NUMBERS = st.one_of(st.integers(0, 12), st.integers(0, 10**7))


def joined(one: str, other: str) -> list[bool]:
    """Return whether two bullets become one by likeness at once, by likeness later, and by a MERGE."""
    always = Vectors(same_vector, "same")
    eager = Playbook(similarity=always)
    for text in (one, other):
        eager.apply([Add(text=text)])
    lazy = Playbook(similarity=always, refinement=LAZY, most=2)
    lazy.apply([Add(text=one), Add(text=other)])
    merged = lazy.apply([Add(text="Lifts.")]).merged
    asked = Playbook(refinement=LAZY)
    added = asked.apply([Add(text=one), Add(text=other)]).added
    done = asked.apply([Merge(ids=added, text=other)])
    return [len(eager.bullets) < 2, merged[:1] == (("gen-00002", "gen-00001"),), done.refused == ()]


@given(
    st.sampled_from(SENTENCES),
    st.tuples(st.sampled_from(AROUND), st.sampled_from(AROUND)),
    st.tuples(NUMBERS, NUMBERS),
    st.tuples(st.sampled_from(FORMS), st.sampled_from(FORMS)),
)
def test_bullets_that_differ_in_a_number_stay_two(
    sentence: str, around: tuple[str, str], values: tuple[int, int], forms: tuple[object, object]
) -> None:
    assume((around[0], values[0]) != (around[1], values[1]))
    # A month that only one of them has makes it the more exact one; they may be merged into that.
    assume(around[0] == around[1] or not {"March {}", "April {}"} & {*around})
    # Nobody writes "2026-03-three".
    written = [
        form(value) if place in AROUND[:5] else str(value)  # type: ignore[operator]
        for form, value, place in zip(forms, values, around, strict=True)
    ]
    one, other = (
        sentence.format(place.format(number)) for place, number in zip(around, written, strict=True)
    )
    assume(not reads_as_rule(one))
    assert opposed(one, other)
    assert joined(one, other) == [False] * 3


@given(
    st.sampled_from(SENTENCES[:4]), st.sampled_from(AROUND[:5]), NUMBERS, st.sampled_from(FORMS),
    st.sampled_from(FORMS),
)  # fmt: skip
def test_one_number_in_two_forms_is_one(
    sentence: str, around: str, value: int, form: object, other: object
) -> None:
    one, two = (
        sentence.format(around.format(make(value)))  # type: ignore[operator]
        for make in (form, other)
    )
    assert not opposed(one, two)
    if one != two:
        assert all(joined(one, two))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,000", "1000"),
        ("1\u00a0000", "1000"),
        ("twenty-one", "21"),
        ("two hundred", "200"),
        ("$5", "5 dollars"),
        ("5 €", "€5"),
        ("5 min", "five minutes"),
        ("5min", "5-minute"),
        ("3.50", "3,50"),
        ("1st", "first"),
        ("９", "9"),
        ("9:30pm", "9:30 p.m."),
        ("USD 5", "$5"),
    ],
)
def test_forms_of_one_number(one: str, other: str) -> None:
    assert not opposed(f"The desk knows {one} of it.", f"The desk knows {other} of it.")


def test_a_number_in_words_is_read_amid_chinese() -> None:
    assert opposed("发票在zero后导出。", "发票在one后导出。")
    assert not opposed("发票在three后导出。", "发票在3后导出。")


@pytest.mark.parametrize(
    ("one", "other"),
    [("5k", "5,000"), ("5 million", "5,000,000"), ("三百", "300"), ("cinco", "5"), ("两", "2")],
)
def test_rare_forms_of_one_number_stay_apart(one: str, other: str) -> None:
    assert opposed(f"The desk knows {one} of it.", f"The desk knows {other} of it.")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1.000", "1000"),
        ("3.0", "3"),
        ("v1.2", "v1.3"),
        ("from 3 to 5", "from 5 to 3"),
        ("three", "thirteen"),
        ("one two", "two one"),
        ("twice", "thrice"),
        ("daily", "weekly"),
        ("Monday", "Tuesday"),
        ("5²", "52"),
        ("5天", "5周"),
        ("tres", "cuatro"),
        ("两张", "三张"),
        ("9 in the morning", "9 in the evening"),
        ("CPU ≥ 80", "CPU ≤ 80"),
        ("IPv4", "IPv6"),
        ("half of it", "a quarter of it"),
        ("ana@example.com", "eva@example.com"),
        ("the alarm on", "the alarm off"),
        ("USD 5", "EUR 5"),
        ("prices that include tax", "prices that exclude tax"),
    ],
)
def test_different_facts(one: str, other: str) -> None:
    assert opposed(f"Have {one}.", f"Have {other}.")
    assert joined(f"Have {one}.", f"Have {other}.") == [False] * 3


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("nobody in", "anybody in"),
        ("ningún tren", "algún tren"),
        ("别去", "去"),
        ("5 miles", "5 feet"),
        ("17:00 UTC", "17:00 CET"),
        ("at least 5", "at most 5"),
        ("5 °C", "5 °F"),
        ("✅ that", "❌ that"),
        ("x != y", "x == y"),
        ("C++", "C"),
        ("C#", "C"),
        ("a locked door", "an unlocked door"),
        ("a valid key", "an invalid key"),
        ("the exports", "the imports"),
        ("an increase", "a decrease"),
        ("inbound mail", "outbound mail"),
        ("an upload", "a download"),
        (normalize("NFD", "más caro"), normalize("NFD", "menos caro")),
    ],
)
def test_likeness_sees_units_signs_and_prefixes(one: str, other: str) -> None:
    assert opposed(f"Have {one}.", f"Have {other}.")
    assert opposed(f"Have {other}.", f"Have {one}.")


@pytest.mark.parametrize(
    "words",
    [
        "nobody nothing nowhere neither nor",
        "nadie nada ningún ninguno ninguna tampoco jamás",
        "沒 無 别 別 莫",
    ],
)
def test_what_only_one_of_two_denies_is_said_by_one(words: str) -> None:
    for word in words.split():
        assert opposed(f"The lift {word} stops here.", "The lift stops here.")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "The channel #ops has the lift's alarms.",
            "The lift's alarms: the channel #ops has them.",
        ),
        ("The form is in /srv/forms/lift.md.", "The lift's form is in /srv/forms/lift.md."),
        ("The C# client waits 5 seconds.", "The client in C# waits five seconds."),
        ("The lift waits 5 seconds on floor 3.", "On floor 3 the slow lift waits 5 seconds."),
        ("Read/write access comes by form.", "A form gives read/write access."),
    ],
)
def test_one_fact_in_other_words_is_one(one: str, other: str) -> None:
    assert not opposed(one, other)


def test_a_merge_neither_loses_nor_makes_up_a_number() -> None:
    texts = ("Ida has 12 badges.", "The lift holds 4 people.", "The lift holds people.")

    def merged(at: tuple[int, int], text: str) -> tuple[tuple[str, str], ...]:
        playbook = Playbook()
        added = playbook.apply([Add(text=texts[one]) for one in at]).added
        return playbook.apply([Merge(ids=added, text=text)]).refused

    assert merged((0, 1), "Ida has 12 badges; the lift holds four.") == ()
    assert merged((1, 2), "The lift holds four people.") == ()
    for text in ("The lift holds people.", "The lift holds 5 people.", "It holds 4 or 5."):
        ((_, why),) = merged((1, 2), text)
        assert "not the same numbers" in why
