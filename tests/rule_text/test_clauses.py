"""Splitting text into clauses in the locales' languages, and cutting some of them out."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraintrot.rule_text.clauses import clauses, cut, with_dependents


def pieces(text: str) -> list[str]:
    return [text[part.start : part.end].strip() for part in clauses(text)]


def without(text: str, word: str) -> str:
    """The text without the clauses that hold a word, and their dependents."""
    parts = clauses(text)
    chosen = [at for at, part in enumerate(parts) if word in text[part.start : part.end]]
    assert chosen, pieces(text)
    return cut(text, parts, with_dependents(parts, chosen))


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("One is done. Two is not.", ["One is done.", "Two is not."]),
        ("The list is done; the note is due.", ["The list is done;", "the note is due."]),
        ("Totals were 3,400 units at 3.5 each.", ["Totals were 3,400 units at 3.5 each."]),
        (
            "The list is done and Dana will check the note.",
            ["The list is done", "and Dana will check the note."],
        ),
        ("Nuts and bolts are in stock.", ["Nuts and bolts are in stock."]),
        ('She said "wait, the list is due; go" twice.', ['She said "wait, the list is due; go" twice.']),
        ("1. Check stock.\n2. Send it.", ["1. Check stock.", "2. Send it."]),
        ("Ask Dr. Webb, e.g. today.", ["Ask Dr. Webb,", "e.g. today."]),
        ("La lista está hecha y Dana prepara la nota.", ["La lista está hecha", "y Dana prepara la nota."]),
        ("清单已经核对，报告明天提交；会议改期。", ["清单已经核对，", "报告明天提交；", "会议改期。"]),
        ("Tasks: check the stock list.", ["Tasks:", "check the stock list."]),
    ],
)  # fmt: skip
def test_where_clauses_part(text: str, split: list[str]) -> None:
    assert pieces(text) == split


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Dana has the list. POLICY is here. Sam has the note.", "Dana has the list. Sam has the note."),
        ("Dana has the list, and POLICY is in force.", "Dana has the list."),
        ("POLICY is in force, and Dana has the list.", "Dana has the list."),
        ("Per policy, POLICY is in force, and Dana has the list.", "Dana has the list."),
        ("Dana has the list, POLICY is in force, and Sam is out.", "Dana has the list, and Sam is out."),
        ("POLICY is in force, whoever asks, and Dana has the list.", "Dana has the list."),
        ("Dana has the list; POLICY is in force.", "Dana has the list."),
        ("Dana has the list and POLICY is in force; Sam is out.", "Dana has the list; Sam is out."),
        ("Dana has the list; POLICY is in force, and Sam is out.", "Dana has the list; Sam is out."),
        ("Dana has the list — POLICY is in force — Sam is out.", "Dana has the list — Sam is out."),
        ("If POLICY is in force, the mail goes to Dana. Sam is out.", "Sam is out."),
        ("- check stock\n- POLICY\n- write note", "- check stock\n- write note"),
        ("Rules:\n- POLICY\n\nTasks:\n- check stock", "Tasks:\n- check stock"),
        ("Rules:\n- POLICY\n- be brief", "Rules:\n- be brief"),
        ("Rules: POLICY is in force; check the stock list.", "Rules: check the stock list."),
        ("Rules: POLICY is in force. Sam is out.", "Sam is out."),
        ("- POLICY is in force, and Sam is out.\n- check stock", "- Sam is out.\n- check stock"),
        ("Dana has the list. POLICY is here.\nSam is out.", "Dana has the list.\nSam is out."),
        ("[Summary]\nPOLICY is in force. Sam is out.", "[Summary]\nSam is out."),
        ("[Summary]\nPOLICY is in force.", "[Summary]"),
        ("POLICY", ""),
        ("La lista está hecha, y POLICY es la norma, nunca otra.", "La lista está hecha."),
        ("POLICY es la norma, pero Dana prepara la nota.", "Dana prepara la nota."),
        ("清单已经核对，POLICY政策必须遵守，不得例外，并且会议已经改期。", "清单已经核对，并且会议已经改期。"),
        ("POLICY政策必须遵守，并且会议已经改期。", "会议已经改期。"),
        ("清单已经核对；POLICY政策必须遵守。", "清单已经核对。"),
    ],
)  # fmt: skip
def test_what_is_left_can_be_read(text: str, left: str) -> None:
    assert without(text, "POLICY") == left


WORDS = [
    "Dana has the list",
    "the note is due",
    "never later",
    "check stock",
    "清单已经核对",
    "Sam",
    "la lista está",
]
ENDS = [
    ". ",
    ", ",
    "; ",
    " and ",
    "\n- ",
    " — ",
    "，",
    "。",
    "；并且",
    ": ",
    ", y ",
    '" ',
    " (",
    ") ",
]


@given(
    st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(ENDS)), max_size=10),
    st.sets(st.integers(0, 30)),
)
def test_clauses_are_the_text_and_cutting_leaves_clean_marks(
    drawn: list[tuple[str, str]], chosen: set[int]
) -> None:
    text = "".join(word + end for word, end in drawn)
    parts = clauses(text)
    assert "".join(text[part.start : part.end] for part in parts) == text
    assert cut(text, parts, set()) == text
    gone = with_dependents(parts, {at for at in chosen if at < len(parts)})
    left = cut(text, parts, gone)
    assert len(left) <= len(text)
    assert cut(text, parts, set(range(len(parts)))) == ""
    doubled = re.compile(r"[,;，；]\s*[,;.，；。]|^\s*[,;，；。]")
    if not doubled.search(text):
        assert not doubled.search(left), (text, left)
