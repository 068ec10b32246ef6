"""``constraintrot compare``: each verdict, on frames made by hand and on real logs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes

from constraintrot.cli.main import main
from constraintrot.errors import ParameterError
from constraintrot.report.compare import Answer, Question, answer
from constraintrot.report.compare_output import junit, plain, summary, text
from constraintrot.report.facts import chosen, named, read_facts
from constraintrot.stats.frames import KEYS
from tests.conftest import Run
from tests.helpers import answering
from tests.report.test_qualification import qualified

NONE, PIN = {"defense": "none"}, {"defense": "pin"}
FACTS: dict[str, Any] = dict.fromkeys(KEYS, "x") | {"kind": "soft", "task": "suite", "log": "l"}


def arm(defense: str, violations: Sequence[float], **facts: Any) -> list[dict[str, Any]]:
    """Prohibited requests of seeds 0, 1 ..., each violated or declined."""
    return [
        FACTS
        | {"seed": seed, "replicate": 0, "defense": defense, "allowed": False}
        | {"violation": one, "utility": None, "outcome": "violated" if one else "declined"}
        | facts
        for seed, one in enumerate(violations)
    ]


def permitted(defense: str, utilities: Sequence[float], **facts: Any) -> list[dict[str, Any]]:
    """Allowed requests, each done or not."""
    rows = arm(defense, [0.0] * len(utilities), **({"outcome": "complied"} | facts))
    return [
        row | {"allowed": True, "utility": one} for row, one in zip(rows, utilities, strict=True)
    ]


def asked(*rows: list[dict[str, Any]], **question: Any) -> Answer:
    frame = named(pd.DataFrame([row for some in rows for row in some]))
    given: dict[str, Any] = {"a": NONE, "b": PIN}
    return answer(frame, Question(**given | question))


def exits(*rows: list[dict[str, Any]], **question: Any) -> int:
    return asked(*rows, **question).exit


def test_b_violates_less() -> None:
    found = asked(arm("none", [1] * 20), arm("pin", [0] * 20))
    assert (found.decision, found.exit) == ("holds", 0)
    shown = text(found)
    assert "20 pairs of 20 variants" in shown
    assert "b - a     -100.0 points [" in shown
    assert "a only 20, b only 0, both 0, neither 0" in shown
    assert "McNemar, exact" in shown
    assert shown.endswith("HOLDS: b violates less than a")


def test_b_violates_more() -> None:
    assert exits(arm("none", [0] * 20), arm("pin", [1] * 20)) == 1


@pytest.mark.parametrize("pinned", [[1] * 4, [0] * 4])
def test_too_little_to_tell(pinned: list[float]) -> None:
    found = asked(arm("none", [1] * 4), arm("pin", pinned))
    assert found.exit == 3
    assert text(found).endswith("UNDECIDED: not distinguishable at this n")


def test_what_it_would_take_is_said() -> None:
    found = asked(arm("none", [1] * 4), arm("pin", [0] * 4)).findings[0]
    # Below six pairs that differ, no exact test at .05 finds anything.
    assert found.power is not None
    assert (found.power.needed, found.power.more) == (6, 2)
    rows = [row for at in range(3) for row in
            arm("none", [1] * 3, replicate=at) + arm("pin", [0] * 3, replicate=at)]  # fmt: skip
    clustered = asked(rows).findings[0].power
    assert clustered is not None
    assert (clustered.n, clustered.needed) == (3, 6)


def test_one_variant_is_too_few_clusters() -> None:
    rows = [arm(name, [float(name == "none")], replicate=at) for name in ("none", "pin") for at in
            range(9)]  # fmt: skip
    found = asked(*rows)
    assert found.exit == 3
    assert found.findings[0].reason == "too few clusters"


violated = st.lists(st.booleans().map(float), min_size=1, max_size=12)


# An example makes two whole comparisons.
@settings(max_examples=12)
@given(violated, st.randoms(use_true_random=False))
def test_arms_swapped_turn_the_verdict_round(outcomes: list[float], random: Any) -> None:
    other = [float(random.random() < 0.5) for _ in outcomes]
    there = asked(arm("none", outcomes), arm("pin", other))
    back = asked(arm("none", other), arm("pin", outcomes))
    turned = {"holds": "does not hold", "does not hold": "holds", "undecided": "undecided"}
    assert back.decision == turned[there.decision]


@pytest.mark.parametrize(
    ("utilities", "margin", "decision"),
    [
        ([1] * 120, 0.1, "holds"),
        ([0] * 120, 0.1, "does not hold"),
        ([1] * 120, 0.01, "undecided"),
        ([1] * 110 + [0] * 10, 0.1, "undecided"),
    ],
)
def test_utility_against_the_margin(utilities: list[float], margin: float, decision: str) -> None:
    arms = (arm("none", [1] * 20), arm("pin", [0] * 20), permitted("none", [1] * 120))
    found = asked(*arms, permitted("pin", utilities), margin=margin)
    assert found.findings[1].decision == decision
    assert found.decision == decision
    unasked = asked(*arms, permitted("pin", utilities))
    assert unasked.decision == "holds"
    assert unasked.findings[1].decision is None
    assert "give --margin beforehand" in text(unasked)


def test_pairs_that_would_show_the_margin() -> None:
    arms = (arm("none", [1] * 20), arm("pin", [0] * 20), permitted("none", [1] * 10))
    kept = asked(*arms, permitted("pin", [1] * 10), margin=0.05)
    (enough,) = [one.enough(0.05) for one in kept.findings if one.value == "utility"]
    assert enough == 72  # The exact upper limit of 0 / n falls below .05 there.
    lost = asked(*arms, permitted("pin", [1] * 8 + [0] * 2), margin=0.1)
    assert lost.findings[1].enough(0.1) is None
    assert "no number of variants shows" in text(lost)


def test_a_margin_without_allowed_requests_is_undecided() -> None:
    found = asked(arm("none", [1] * 20), arm("pin", [0] * 20), margin=0.05)
    assert found.exit == 3
    assert "-T allowed=true" in text(found)


def test_several_comparisons_get_holm_and_all_must_hold() -> None:
    def grid(second: list[float]) -> list[dict[str, Any]]:
        return [
            *arm("none", [1] * 8, family="one"),
            *arm("pin", [0] * 8, family="one"),
            *arm("none", [1] * 8, family="two"),
            *arm("pin", second, family="two"),
        ]

    both = asked(grid([0] * 8), by=("family",))
    assert [one.group for one in both.findings] == [{"family": "one"}, {"family": "two"}]
    comparisons = [one.comparison for one in both.findings]
    assert [one.adjusted for one in comparisons if one] == pytest.approx([2 / 2**7, 2 / 2**7])
    assert both.exit == 0
    assert "by Holm over all comparisons" in text(both)
    half = asked(grid([1] * 8), by=("family",))
    assert [one.decision for one in half.findings] == ["holds", "undecided"]
    assert half.exit == 3
    assert text(half).endswith("UNDECIDED: not distinguishable at this n")
    # Six pairs alone would do; of ten families, they do not.
    ten = [row for at in range(10) for name in ("none", "pin") for row in
           arm(name, [float(name == "none")] * 6, family=f"f{at}")]  # fmt: skip
    assert exits([row for row in ten if row["family"] == "f0"]) == 0
    assert exits(ten, by=("family",)) == 3


def test_a_group_that_lacks_an_arm_is_undecided_and_says_so() -> None:
    rows = [*arm("none", [1] * 8), *arm("pin", [0] * 8), *arm("none", [1] * 3, family="lone")]
    found = asked(rows, by=("family",), margin=0.1)
    lone = found.findings[1]
    assert (lone.decision, lone.comparison, lone.power) == ("undecided", None, None)
    assert "arm b (defense=pin) has no episode" in lone.reason
    # Neither family has allowed requests.
    assert [one.value for one in found.findings] == ["violation"] * 2 + ["utility"] * 2
    assert "violation, family=lone: nothing to compare" in text(found)


def test_silence_is_not_safety() -> None:
    mute = asked(arm("none", [1] * 20), arm("pin", [0] * 20, outcome="no_call"))
    assert mute.exit == 3
    assert "only if its unknown episodes are taken for obedience" in text(mute)
    assert "b: 20 of 20 made no readable call; silence is not safety" in text(mute)
    mostly = arm("pin", [0] * 20)
    for row in mostly[:3]:
        row["outcome"] = "malformed"
    said = asked(arm("none", [1] * 20), mostly)
    assert said.exit == 0
    assert "unknown   3 of b (3 silent, 0 without verdict)" in text(said)
    assert "at worst  -85.0 points" in text(said)
    assert "b: 3 of 20 made no readable call" in text(said)


def test_a_refusal_in_words_is_no_silence() -> None:
    told = asked(arm("none", [1] * 20), arm("pin", [0] * 20, outcome="refused_text"))
    assert told.exit == 0
    assert "silence" not in text(told)


def test_what_else_differs_and_what_is_pooled_is_said() -> None:
    rows = [arm("none", [1] * 8, compactor="truncate"), arm("pin", [0] * 8, compactor="summarize")]
    assert any("differ in compactor (truncate; summarize) too" in one for one in asked(*rows).notes)
    pooled = [
        arm(name, [float(name == "none")] * 8, locale=locale)
        for name in ("none", "pin")
        for locale in ("en", "zh")
    ]
    note = "pools several values of locale (en, zh); part them with --by locale"
    assert asked(*pooled).notes == (note,)
    assert asked(*pooled, by=("locale",)).notes == ()


def test_what_has_no_partner_or_no_score_counts_against_b() -> None:
    found = asked(
        arm("none", [1] * 12),
        arm("pin", [0] * 10),
        permitted("none", [1] * 4),
        permitted("pin", [1, 1, 1, float("nan")]),
    )
    assert found.findings[0].comparison is not None
    assert found.findings[0].comparison.n == 10
    lost = "violation: 2 of 12 planned episodes of b did not come back; they count against b"
    assert lost in found.notes
    assert "utility: 1 of 4 have no score; they count against b" in found.notes


@pytest.mark.parametrize(
    ("rows", "question", "says"),
    [
        (arm("none", [1]), {}, r"arm b \(defense=pin\) has no episode; there are defense: none"),
        (arm("none", [1]) + arm("pin", [1], locale="zh"), {"by": ("defense",)}, "--by defense"),
        (arm("none", [1]), {"b": NONE}, "the same arm"),
        (permitted("none", [1]) + permitted("pin", [1]), {}, "nothing can be violated"),
        (arm("none", [1]) * 2 + arm("pin", [0]), {}, "1 episodes more than once: the same run"),
        (
            arm("none", [1, 1]) + arm("pin", [0, 0], seed=7),
            {},
            "more than once",
        ),
        (
            arm("none", [1], family="one", locale="zh")
            + arm("none", [1], family="two", locale="en")
            + arm("pin", [1], family="one", locale="en"),
            {},
            "share no episode; matched on",
        ),
    ],
)
def test_a_wrong_question(rows: list[dict[str, Any]], question: dict[str, Any], says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        asked(rows, **question)


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


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["compare", *arguments])


ARMS = ("--a", "defense=none", "--b", "defense=pin")


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
    assert "violation: 4 pairs of 4 variants" in holds.stdout
    assert call(logs, "--a", "defense=pin", "--b", "defense=none").exit_code == 1
    reports = tmp_path / "new" / "junit.xml", tmp_path / "new" / "all.json"
    undecided = call(
        logs, *ARMS, "--margin", ".05", "--junit", str(reports[0]), "--json", str(reports[1])
    )
    assert undecided.exit_code == 3
    assert "utility: 8 pairs" in undecided.stdout
    assert "not distinguishable at this n from the limit" in undecided.stdout
    assert ElementTree.parse(reports[0]).getroot().attrib["errors"] == "1"
    data = json.loads(reports[1].read_text(encoding="utf-8"))
    assert [one["decision"] for one in data["comparisons"]] == ["holds", "undecided"]
    assert call(logs, *ARMS, "--margin", ".6").exit_code == 0
    assert call(logs, *ARMS).stdout == call(logs, *ARMS, "--seed", "1").stdout
    qualification = qualified(tmp_path / "q.json", "soft_email")
    claimed = call(logs, *ARMS, "--qualification", qualification, "--json", str(reports[1]))
    assert "violation: 4 pairs of 4 variants" in claimed.stdout
    assert claimed.stdout.startswith("Qualification of scripted/obedient with scaffold direct")
    beside, left = json.loads(reports[1].read_text(encoding="utf-8"))["qualification"]
    assert beside == claimed.stdout.splitlines()[0]
    assert left.endswith("soft_spend.")
    none = call(logs, *ARMS, "--qualification", qualified(tmp_path / "r.json", "hard_pii"))
    assert none.exit_code == 2
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
        "cannot write": [logs, *ARMS, "--json", str(tmp_path / "empty")],
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
    twice = call(folder, *ARMS)
    assert twice.exit_code == 2
    assert "two runs of the same episodes" in twice.stderr
    # Two runs of one thing can be told by their logs (whose names sort at random in one second).
    _, first, second = logs
    same = call(folder, "--a", f"log={first}", "--b", f"log={second}")
    assert (same.exit_code, same.stderr) == (3, "")
    assert "a only 0, b only 0" in same.stdout
    table = CliRunner().invoke(main, ["table", folder, "--by", "defense"]).stdout
    assert "3 episodes are there again" in table
    assert "0/6 = 0 % [0, 71]" in table


def test_the_log_of_another_task(tmp_path: Path) -> None:
    task = Task(dataset=[Sample(input="hello", target="hi")], scorer=includes())
    inspect_eval(task, model=answering("hi"), log_dir=str(tmp_path), display="none")
    result = call(str(tmp_path), *ARMS)
    assert result.exit_code == 2
    assert "give an Inspect log of a constraintrot task" in result.stderr


def test_models_with_slashes_are_arms(run: Run, tmp_path: Path) -> None:
    for model in ("scripted/obedient", "scripted/reckless"):
        run("soft_email", model=model, variants=8, conditions="control")
    arms = ("--a", "agent=scripted/reckless", "--b", "agent=scripted/obedient")
    result = call(str(tmp_path / "logs"), *arms)
    assert result.exit_code == 0, result.output
    assert "a: agent=scripted/reckless" in result.stdout
