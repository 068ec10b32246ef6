"""The command ``compare`` on real logs."""

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes

from constraintrot.errors import ParameterError
from constraintrot.report.compare_output import junit, plain, summary, text
from constraintrot.report.facts import chosen, named, read_facts
from tests.conftest import Run
from tests.helpers import answering
from tests.invoked import invoked
from tests.report.gate_arms import ARMS, FACTS, arm, asked, call, permitted
from tests.report.test_qualification import qualified


@pytest.fixture
def logs(shared_run: Run, tmp_path: Path) -> str:
    (tmp_path / "logs").mkdir()
    for allowed in (False, True):
        log = shared_run(
            "pin_stress",
            variants=4,
            families="soft_email,soft_spend",
            defenses="none,pin",
            conditions="compaction",
            allowed=allowed,
        )
        shutil.copy(log.location, tmp_path / "logs")
    return str(tmp_path / "logs")


def test_a_gate_on_real_logs(logs: str, tmp_path: Path) -> None:
    holds = call(logs, *ARMS, "--where", "family=soft_email,task=pin_stress", "--confidence", ".8")
    assert (holds.exit_code, holds.stderr) == (0, "")
    assert "violation: 4 pairs of 4 requests" in holds.stdout
    assert call(logs, "--a", "defense=pin", "--b", "defense=none").exit_code == 1
    reports = tmp_path / "new" / "junit.xml", tmp_path / "new" / "all.json"
    undecided = call(
        logs,
        *ARMS,
        "--margin",
        ".05",
        "--junit",
        str(reports[0]),
        "--json",
        str(reports[1]),
        exits=3,
    )
    assert "utility: 8 pairs" in undecided.stdout
    assert "not distinguishable at this n from the limit" in undecided.stdout
    assert ElementTree.parse(reports[0]).getroot().attrib["errors"] == "1"
    data = json.loads(reports[1].read_text(encoding="utf-8"))
    assert [one["decision"] for one in data["comparisons"]] == ["holds", "undecided"]
    assert call(logs, *ARMS, "--margin", ".6").exit_code == 0
    assert call(logs, *ARMS).stdout == call(logs, *ARMS, "--seed", "1").stdout
    qualification = qualified(tmp_path / "q.json", "soft_email")
    claimed = call(logs, *ARMS, "--qualification", qualification, "--json", str(reports[1]))
    assert "violation: 4 pairs of 4 requests" in claimed.stdout
    assert claimed.stdout.startswith("Qualification of scripted/obedient with scaffold direct")
    beside, left, elsewhere = json.loads(reports[1].read_text(encoding="utf-8"))["qualification"]
    assert beside == claimed.stdout.splitlines()[0]
    assert elsewhere.endswith("was played at context_tokens 300, and results are also at 800.")
    assert left.endswith("soft_spend.")
    none = call(logs, *ARMS, "--qualification", qualified(tmp_path / "r.json", "hard_pii"), exits=2)
    assert "nothing is left to compute" in none.stderr


def test_wrong_calls_exit_with_2_and_one_line(logs: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    found = sorted(Path(logs).glob("*.eval"))
    torn = tmp_path / "torn.eval"
    torn.write_bytes(found[0].read_bytes()[:2000])
    wrong = {
        "no finished ConstraintRot episode": [str(tmp_path / "empty"), *ARMS],
        "no such log": ["nowhere", *ARMS],
        "torn.eval is no readable Inspect log": [str(torn), *ARMS],
        "--by colour: known: family": [logs, *ARMS, "--by", "colour"],
        "there are defense: none, pin": [logs, "--a", "defense=none", "--b", "defense=pi"],
        "--where agent=x: no such episode": [logs, *ARMS, "--where", "agent=x"],
        "Is a directory; name another place": [logs, *ARMS, "--json", str(tmp_path / "empty")],
    }
    for says, arguments in wrong.items():
        result = call(*arguments)
        assert result.exit_code == 2, says
        assert says in result.stderr
        assert result.stderr.startswith("constraintrot: ")
        assert result.stderr.count("\n") == 1
    for usage in ([logs], [logs, *ARMS, "--margin", "5"], [*ARMS]):
        assert call(*usage).exit_code == 2


def test_two_runs_of_the_same_episodes(run: Run, tmp_path: Path) -> None:
    logs = [
        Path(run("soft_email", variants=3, conditions="compaction", defense=defense).location).name
        for defense in ("none", "pin", "pin")
    ]
    folder = str(tmp_path / "logs")
    twice = call(folder, *ARMS, exits=2)
    assert "two runs of the same episodes" in twice.stderr
    # Two runs of one thing can be told by their logs (whose names sort at random in one second).
    _, first, second = logs
    same = call(folder, "--a", f"log={first}", "--b", f"log={second}")
    assert (same.exit_code, same.stderr) == (3, "")
    assert "a only 0, b only 0" in same.stdout
    table = invoked("table", folder, "--by", "defense").stdout
    assert "3 episodes are there again" in table
    assert "0/6 = 0 % [0, 71]" in table


def test_the_log_of_another_task(tmp_path: Path) -> None:
    task = Task(dataset=[Sample(input="hello", target="hi")], scorer=includes())
    inspect_eval(task, model=answering("hi"), log_dir=str(tmp_path), display="none")
    result = call(str(tmp_path), *ARMS, exits=2)
    assert "give an Inspect log of a constraintrot task" in result.stderr


def test_models_with_slashes_are_arms(run: Run, tmp_path: Path) -> None:
    for model in ("scripted/obedient", "scripted/reckless"):
        run("soft_email", model=model, variants=8, conditions="control")
    arms = ("--a", "agent=scripted/reckless", "--b", "agent=scripted/obedient")
    result = call(str(tmp_path / "logs"), *arms, "--floor", "0", exits=0)
    assert "a: agent=scripted/reckless" in result.stdout
    refused = call(str(tmp_path / "logs"), *arms, exits=3)
    assert "b acted in none of 8 episodes, and none asks for what is allowed" in refused.stdout


# How a comparison is told: as text, as JUnit, as plain data; and facts in its options.


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
    assert [case[0].tag for case in suite[:3]] == ["system-out", "failure", "error"]
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


# An agent that was asked for nothing that is allowed.

REFUSED = arm("pin", [0.0] * 40, outcome="declined")


@pytest.mark.parametrize(
    ("b", "question", "exit_"),
    [
        (REFUSED, {"a": None, "at_most": 0.1}, 3),
        (REFUSED, {"no_worse": 0.1}, 3),
        (REFUSED, {}, 3),
        (arm("pin", [0.0] * 40, outcome="refused_text"), {"a": None, "at_most": 0.1}, 3),
        ([*REFUSED[:30], *(one | {"outcome": "no_call"} for one in REFUSED[30:])], {}, 3),
        (REFUSED, {"a": None, "at_most": 0.1, "floor": 0.0}, 0),
        (REFUSED, {"a": None, "at_most": 0.1, "floor": 0.0, "strict": True}, 0),
        (REFUSED + permitted("pin", [1] * 40), {"a": None, "at_most": 0.1, "strict": True}, 0),
        (REFUSED + permitted("pin", [0] * 40), {"a": None, "at_most": 0.1}, 1),
        ([*REFUSED[1:], REFUSED[0] | {"outcome": "complied"}], {"a": None, "at_most": 0.1}, 0),
        (arm("pin", [0.0] * 40), {"a": None, "at_most": 0.1}, 0),
        (arm("pin", [0.0] * 40), {"a": None, "at_most": 0.1, "strict": True}, 1),
        (REFUSED, {"strict": True}, 1),
    ],
)
def test_who_refuses_everything_holds_nothing_where_nothing_allowed_was_asked(
    b: list[dict[str, Any]], question: dict[str, Any], exit_: int
) -> None:
    found = asked(arm("none", [float("no_worse" not in question)] * 40), b, exits=exit_, **question)
    lacks = not any(one["allowed"] for one in b) and question.get("floor") is None
    said = "b asks for what is allowed; run the same variants with -T allowed=true"
    assert any(said in one for one in found.notes) == lacks
    if exit_ == 3:
        assert "b acted in none of 40 episodes, and none asks for what is allowed" in text(found)


def test_a_group_without_allowed_requests_is_named() -> None:
    asked_of_one = [
        *(row for family in ("one", "two") for row in arm("none", [1] * 40, family=family)),
        *(row for family in ("one", "two") for row in arm("pin", [0] * 40, family=family)),
        *(row for one in ("none", "pin") for row in permitted(one, [1] * 40, family="one")),
    ]
    found = asked(asked_of_one, by=("family",), exits=0)
    (note,) = found.notes
    assert note.startswith("no episode of a with family=two or b with family=two asks for what")
