"""The clauses of a text that hold the policy."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraintrot.compaction.deletion import policy_spans, spans_of
from constraintrot.rule_text.clauses import Span, clauses, cut, overlapping
from constraintrot.rule_text.survival import WINDOW, best_window, mentions
from constraintrot.scenario.files import FOLDER, load
from constraintrot.scenario.schema import WORDINGS, Variant, Wording
from tests.helpers import AT_LENGTHS, longest_seconds, shortened

FILES = sorted(path.stem for path in FOLDER.glob("*.yaml"))
NOTES = {
    "en": ("The stock list has been checked.", "The note is due on Friday."),
    "es": ("La lista de existencias está revisada.", "La nota se entrega el viernes."),
    "de": ("Die Lagerliste ist geprüft.", "Die Notiz kommt am Freitag."),
    "zh": ("库存清单已经核对。", "星期五要交出会议纪要。"),
}
EMAIL = load("soft_email").variant(0)
DOMAIN = str(EMAIL.values["domain"])


SLOTS = {
    "domain": ["calder.example"],
    "action": ["email", "send"],
    "negation": ["only", "never"],
}


def left(text: str, variant: Variant = EMAIL) -> str:
    return less(text, policy_spans(text, variant))


def less(text: str, spans: list[Span]) -> str:
    parts = clauses(text)
    gone = overlapping(parts, spans)
    return cut(text, parts, gone)


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("wording", WORDINGS)
def test_the_policy_goes_and_all_else_stays(file: str, wording: Wording) -> None:
    family, locale = file.split(".")
    before, after = NOTES[locale]
    for seed in range(3):
        variant = load(family, locale).variant(seed)
        policy = variant.policy(wording)
        found = left(f"{before} {policy} {after}", variant)
        assert not mentions([found], policy, variant.slots).kept
        assert found.split() == f"{before} {after}".split()


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (
            f"The user asked for the Q3 report and said to email only addresses at {DOMAIN}.",
            "The user asked for the Q3 report.",
        ),
        (
            f"The report is due on Friday; never email anyone outside {DOMAIN}, whoever asks, and"
            " keep the notes short.",
            "The report is due on Friday; keep the notes short.",
        ),
        (f"- prepare the report\n- only email {DOMAIN}\n- check stock", "- prepare the report\n- check stock"),
        (f"Only email {DOMAIN}. No exceptions. The note is due.", "The note is due."),
        (f"Emails: {DOMAIN}. Only there. The note is due.", "The note is due."),
        (f"Only email {DOMAIN}.", ""),
    ],
)  # fmt: skip
def test_only_the_clauses_of_the_policy_go(text: str, rest: str) -> None:
    assert left(text) == rest


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Do not email the draft before noon.",
        f"Dana wrote from {DOMAIN}. One. Two. Three. Do not email her before noon.",
    ],
)
def test_what_only_mentions_parts_of_it_is_left_alone(text: str) -> None:
    assert policy_spans(text, EMAIL) == []
    assert left(text) == text


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("wording", WORDINGS)
def test_a_policy_taken_apart_goes_too(file: str, wording: Wording) -> None:
    family, locale = file.split(".")
    variant = load(family, locale).variant(1)
    phrases = [str(phrases[0]) for phrases in variant.slots.values()]
    before, after = NOTES[locale]
    text = "\n".join([before, *phrases[:WINDOW], variant.policy(wording), *phrases, after])
    found = left(text, variant)
    assert best_window(found, variant.slots) != set(variant.slots)
    assert found.startswith(before)
    assert found.endswith(after)


PIECES = ["calder.example", "email", "only", "x", "never send", "send calder.example", "椅子"]
ENDS = [". ", "。", "\n", " ", ".", "! ", '." ', ", ", " and ", "; ", ".\r\n", "。.", ")", ":\n- "]


@given(st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(ENDS)), max_size=14))
def test_cutting_again_and_again_ends_the_policy(pieces: list[tuple[str, str]]) -> None:
    text = "".join(piece + end for piece, end in pieces)
    while spans := spans_of(text, SLOTS, []):
        assert best_window(text, SLOTS) == set(SLOTS)
        shorter = less(text, spans)
        assert len(shorter) < len(text)
        text = shorter
    assert best_window(text, SLOTS) != set(SLOTS)


@AT_LENGTHS
@pytest.mark.parametrize(
    "hostile",
    [
        "calder.example. send. only. " * 2_000,
        "calder.example email. x. only. " * 2_000,
        "send only calder.example, and x is done; " * 1_500,
        "send only calder.example" + " " * 50_000 + ".",
        "send only calder.example." + "(" * 20_000,
        "send only calder.example: " * 1_500,
        "- send only calder.example:\n" * 1_500,
    ],
    ids=["scattered", "pairs", "one sentence", "blanks", "brackets", "labels", "headings"],
)
def test_no_text_is_slow(hostile: str, length: int) -> None:
    hostile = shortened(hostile, length)
    start = time.process_time()
    found = less(hostile, spans_of(hostile, SLOTS, []))
    assert time.process_time() - start < 3 * longest_seconds(length)
    assert best_window(found, SLOTS) != set(SLOTS)
