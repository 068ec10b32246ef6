"""Patterns of a user's end in linear time, and mean what they mean to Python."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from constraintrot import patterns
from constraintrot.coding_agents.sessions.events import Call
from constraintrot.doctor.breaches import Breach
from constraintrot.errors import ConstraintRotError
from constraintrot.patterns import UserPattern
from constraintrot.scenario.predicate import predicate_from

ENDLESS = ("(a+)+$", "(a|a)*$", "(a|aa)+$", "(.*a){25}", "a*a*a*a*a*a*b", "(x+x+)+y")
SAID = "a" * 60_000 + "!"


@pytest.fixture(params=[True, False], ids=["RE2", "without RE2"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if request.param:
        pytest.importorskip("re2", reason="google-re2 is not installed")
    monkeypatch.setattr(patterns, "installed", lambda _: request.param)
    return bool(request.param)


@pytest.mark.parametrize("source", ENDLESS)
def test_a_pattern_without_end_ends(source: str) -> None:
    pytest.importorskip("re2", reason="google-re2 is not installed")
    begun = time.process_time()
    try:
        UserPattern(source).search(SAID)
        Breach.read({"tool": source, "matches": source}, "here").broken_by(
            Call("a" * 5_000 + "!", {"x": SAID})
        )
    except (ValueError, ConstraintRotError):
        pass
    assert time.process_time() - begun < 3


@pytest.mark.parametrize("source", ENDLESS[:3])
def test_without_the_library_such_a_pattern_is_refused(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patterns, "installed", lambda _: False)
    with pytest.raises(ValueError, match="within a repeat"):
        UserPattern(source)
    with pytest.raises(ConstraintRotError, match="within a repeat"):
        Breach.read({"matches": source}, "here")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (r"\bconfidential\b", "the Confidential file"),
        (r"TICKET-\d+", "see TICKET-٣٤ now"),
        (r"/$", "rm -rf /\n"),
        (r"\w+é\s", "un café de"),
        (r"[\w-]+@[^\s\]]+", "a-é@b.c ]"),
        (r"[]a]+[^]b]", "]]ac"),
        (r"\u2019s\Z", "it\u2019s"),
        (r"(?m)^rm$", "a\nrm\nb"),
        (r"\D\W", "a "),
        (r"do[\W_]+not", "do_ - not"),
        (r"é[\Wx\D]é", "éxé"),
        (r"[a[]+", "[a["),
        (r"\u00a0?\s", "\u3000"),
        (r"\.env\b", "cat .env"),
    ],
)
def test_it_finds_what_python_finds(source: str, text: str, engine: bool) -> None:
    found = re.compile(source, re.IGNORECASE).search(text)
    assert found is not None
    told = UserPattern(source, ignore_case=True).search(text)
    assert (told or "").strip() == found[0].strip()


@given(st.text(alphabet="ab\\[]^$.*+?(){}|wdsWbZ-é\n ", max_size=12), st.text(max_size=12))
def test_any_pattern_is_read_or_refused(source: str, text: str) -> None:
    try:
        UserPattern(source).search(text + "\ud800")
    except ValueError:
        return


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("(", "is no regular expression"),
        ("a(?=b)", "no pattern that takes linear time"),
        (r"(a)\1", "no pattern that takes linear time"),
        (r"\bésta", "knows the letters of ASCII only"),
        (r"[^\W_]", "write what it stands for"),
        ("a" * 3_000, "at most 2,000"),
    ],
)
def test_what_cannot_be_looked_for_is_refused_when_it_is_read(source: str, said: str) -> None:
    pytest.importorskip("re2", reason="google-re2 is not installed")
    with pytest.raises(ValueError, match=said):
        UserPattern(source)
    with pytest.raises(ConstraintRotError, match=said):
        Breach.read({"matches": source}, "here")
    with pytest.raises(ValidationError, match=said):
        predicate_from({"type": "text_matching", "argument": "n", "forbidden": source})
