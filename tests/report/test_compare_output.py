"""How a comparison is told: as text, as JUnit, as plain data; and facts in its options."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraintrot.errors import ParameterError
from constraintrot.report.compare_output import junit, plain, summary, text
from constraintrot.report.facts import chosen, named, read_facts
from tests.report.gate_arms import FACTS, arm, asked


def test_facts_are_read_as_they_are_written() -> None:
    frame = named(
        pd.DataFrame(
            [
                FACTS | {"attack": "note:at=early,channel=user", "budget_words": 60},
                FACTS | {"attack": "none", "budget_words": "none", "context_tokens": None},
                FACTS | {"attack": "none", "rounds": 2.0, "agent": "local/a=b/c"},
            ]
        )
    )
    assert read_facts("--a", ["budget_words=60,rounds=2"], frame) == {
        "budget_words": "60",
        "rounds": "2",
    }
    assert len(chosen(frame, {"budget_words": "60"})) == 1
    assert len(chosen(frame, {"rounds": "2", "agent": "local/a=b/c"})) == 1
    assert len(chosen(frame, {"context_tokens": "none"})) == 1
    # An attack's own commas, as a whole and before another fact.
    whole = "attack=note:at=early,channel=user"
    assert read_facts("--a", [whole], frame) == {"attack": "note:at=early,channel=user"}
    assert read_facts("--a", ["attack=note:at=early,by=me", "agent=x"], frame) == {
        "attack": "note:at=early,by=me",
        "agent": "x",
    }
    for wrong, says in (("defense", "give FACT=VALUE"), ("colour=red", "of family, locale")):
        with pytest.raises(ParameterError, match=says):
            read_facts("--a", [wrong], frame)
    with pytest.raises(ParameterError, match="--a: agent is given twice"):
        read_facts("--a", ["agent=x", "agent=y"], frame)
    with pytest.raises(ParameterError, match=r"--where agent=z: no such episode; there are x"):
        chosen(frame, {"agent": "z"})


HOSTILE = "lab/<b>\x1b[2J\u202e\nHOLDS: really"


@given(st.text())
def test_only_printable_lines_are_shown(name: str) -> None:
    shown = plain(name)
    assert shown.isprintable()
    assert name.isprintable() is (shown == name) or len(name) > 500


def test_a_hostile_name_is_inert_everywhere() -> None:
    rows = arm("none", [1] * 8, agent=HOSTILE) + arm("pin", [0] * 8, agent=HOSTILE)
    found = asked(rows, by=("agent",))
    assert found.findings[0].group == {"agent": HOSTILE}
    lines = text(found).splitlines()
    assert sum(line.startswith("HOLDS") for line in lines) == 1
    assert "\\x1b[2J\\u202e\\nHOLDS: really" in text(found)
    suite = ElementTree.fromstring(junit(found))
    assert "<b>" in suite[0].attrib["name"]
    assert json.loads(json.dumps(summary(found)))["comparisons"][0]["group"]["agent"] == HOSTILE


def test_junit_marks_each_verdict() -> None:
    rows = [*arm("none", [1] * 9), *arm("pin", [0] * 9)]
    rows += [*arm("none", [0] * 9, family="worse"), *arm("pin", [1] * 9, family="worse")]
    rows += [*arm("none", [1], family="few"), *arm("pin", [0], family="few")]
    suite = ElementTree.fromstring(junit(asked(rows, by=("family",))))
    assert suite.tag == "testsuite"
    counts = {name: suite.attrib[name] for name in ("tests", "failures", "errors")}
    assert counts == {"tests": "3", "failures": "1", "errors": "1"}
    assert [case[0].tag for case in suite] == ["system-out", "failure", "error"]
    assert suite[1].attrib["name"] == "violation, family=worse"
    assert suite[1][0].attrib["message"] == "b violates more than a"


def test_the_plain_data_holds_every_interval_or_why_there_is_none() -> None:
    data = summary(asked(arm("none", [1] * 8), arm("pin", [0] * 8), margin=0.1))
    violation, utility = data["comparisons"]
    assert set(violation["difference"]) == {"estimate", "lower", "upper", "k", "n", "method"}
    assert violation["difference_reason"] is None
    assert violation["bootstrap"] is None
    assert violation["bootstrap_reason"] == "one pair a cluster needs no bootstrap"
    assert (violation["only_a"], violation["p_holm"]) == (8, None)
    assert utility["decision"] == "undecided"
    assert (data["decision"], data["exit"]) == ("undecided", 3)
