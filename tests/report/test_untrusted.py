"""Nothing unseen is shown, nothing is endless, no cell is computed."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraintrot.report import untrusted

ANY = st.text(st.characters(codec=None))


@given(ANY)
def test_no_control_format_or_surrogate_is_left(text: str) -> None:
    shown = untrusted.visible(text)
    left = {sign for sign in shown if unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp")}
    assert left <= {"\n", "\t"}
    shown.encode("utf-8")


@pytest.mark.parametrize("sign", "\u202e\u2066\u200b\u200f\ufeff\u2060\xad\U000e0041\x1b\x9b\r")
def test_what_acts_unseen_is_written_out(sign: str) -> None:
    assert untrusted.visible(f"a{sign}b") == f"a⟨U+{ord(sign):04X}⟩b"


def test_what_is_seen_stays() -> None:
    text = "línea 中文 ✗ #ops\n\ta=1"
    assert untrusted.visible(text) == text


@given(ANY | st.text(st.sampled_from("=-;\t\n\r' |a")))
def test_a_cell_is_no_formula_and_comes_back(text: str) -> None:
    cell = untrusted.escape_cell(text)
    assert untrusted.unescape_cell(cell) == text
    # As read where semicolons part cells, and in what keeps no quoted line together.
    for part in re.split("[;\t\n]", cell):
        assert not part.lstrip(" \u00a0\u3000").startswith(("=", "+", "-", "@", "\r"))


def test_a_cell_is_left_as_it_is_where_nothing_is_computed() -> None:
    for text in ("a; b", "x = 1", "a-b;c", "it's; 'so'"):
        assert untrusted.escape_cell(text) == text
    assert untrusted.escape_cell("ok;=cmd|'/C calc'!A0") == "ok;'=cmd|'/C calc'!A0"


@given(ANY, st.integers(1, 30))
def test_a_text_is_cut_with_a_note(text: str, limit: int) -> None:
    shown = untrusted.cut(text, limit)
    if len(text) <= limit:
        assert shown == untrusted.visible(text)
    else:
        assert shown.startswith(untrusted.visible(text[:limit]))
        assert f"{len(text) - limit:,} of {len(text):,} characters cut" in shown


def test_lines_are_cut_in_both_ways() -> None:
    assert untrusted.lines("a\nb", 2) == ["a", "b"]
    assert untrusted.lines("a\nb\nc\nd", 2) == ["a", "b", "… [2 more lines cut]"]
    (one,) = untrusted.lines("x" * 20, 3, line=5)
    assert one == "xxxxx … [15 of 20 characters cut]"
    long = untrusted.lines("y\n" * 1_000_000, 3)
    assert len(long) == 4
    assert long[-1] == "… [999,998 more lines cut]"
