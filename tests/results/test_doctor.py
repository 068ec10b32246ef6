"""The committed precision and recall are what the doctor does."""

import json
import re
from pathlib import Path

import pytest

from constraintrot.rule_text.survival import SURVIVED
from results.tools.doctor import __main__ as accuracy
from results.tools.doctor import driven, free, public, said_rules, sanitise, script

COMMITTED = Path(__file__).parents[2] / "results" / "doctor.md"


def test_sessions_are_of_all_formats_and_every_rule_has_every_fate() -> None:
    made = script.scripts()
    assert len(made) >= 120
    assert {one.form for one in made} == set(script.FORMATS)
    assert script.scripts() == made
    states = {(truth.rule, truth.states[0]) for one in made for truth in one.truths}
    assert {state for _, state in states} == set(script.FATES.values())
    halves = {one.half: {truth.rule for truth in one.truths} for one in made}
    assert not halves["tuning"] & halves["held_out"]


def test_a_few_sessions_are_told_rightly(tmp_path: Path) -> None:
    chosen = script.scripts()[:28]
    assert {one.form for one in chosen} == set(script.FORMATS)
    said = [each for each in accuracy.said(accuracy.run(chosen, tmp_path)) if each.there]
    assert {each.outcome for each in said if each.truth == "verbatim"} <= {"survived"}
    # Word lists decide little, and what they decide is so.
    wrong = [each for each in said if each.outcome == "survived" and each.truth not in SURVIVED]
    wrong += [each for each in said if each.outcome == "lost" and each.truth in SURVIVED]
    assert wrong == []
    assert {"lost", "cannot be told"} <= {each.outcome for each in said}


def test_figures_of_free_prose_are_those_of_the_page() -> None:
    committed = COMMITTED.read_text(encoding="utf-8").splitlines()
    table = list(free.measured())
    assert len(table) == 6
    assert all(line in committed for line in table)


def test_figures_of_published_sessions_are_those_of_the_page() -> None:
    committed = COMMITTED.read_text(encoding="utf-8").splitlines()
    lines = [line for part in public.measured() for line in part.splitlines()]
    assert all(line in committed for line in lines)


def test_all_that_was_listed_of_published_sessions_was_judged() -> None:
    said = json.loads(public.VERDICTS.read_text(encoding="utf-8"))
    told = {one["name"]: one for one in public.reading()}
    assert len(told) == 26
    for run in said.values():
        for name, found in run.items():
            assert set(found["listed"]) <= set(told[name]["listed"]), name


@pytest.mark.parametrize("agent", driven.AGENTS)
def test_session_that_an_agent_wrote_gives_the_context_that_it_sent(
    agent: str, tmp_path: Path
) -> None:
    mine = [one for one in driven.listed() if one.made.form == agent]
    assert len(mine) >= 4
    for one in mine:
        session = driven.opened(one, tmp_path)
        right, told, there = driven.context(one, session)
        assert right == told == there > 0, one.made.name


@pytest.mark.parametrize("agent", driven.AGENTS)
def test_session_that_an_agent_wrote_is_read(agent: str, tmp_path: Path) -> None:
    one = next(one for one in driven.listed() if one.made.form == agent)
    found, _ = driven.diagnosed(one, driven.opened(one, tmp_path))
    assert len(found.compactions) == len(one.made.truths[0].states)
    assert (found.losses.broken, found.losses.notes, found.error) == (0, [], "")
    assert all(was == told for was, told in driven.project_rule(one, found))
    histories = {each.rule.name: each for each in found.histories}
    for truth in one.made.truths:
        history = histories[truth.rule]
        assert history.given is not None
        assert history.given.message.channel in accuracy.VIAS[truth.via]
        assert len(history.broken) == truth.breaches


def test_texts_without_a_rule_give_few() -> None:
    # Lines are made as they are asked for, and those of whole histories come last.
    line = next(line for line in said_rules.measured() if line.startswith("| en, requests"))
    assert "0/15 (0.0%) | 0/15" in line
    assert not [one for one in said_rules.missed(0) if "en missed" in one]


def test_nothing_of_the_agents_or_of_a_machine_is_in_their_sessions() -> None:
    for path in driven.FOLDER.iterdir():
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"constraintrot-agent|/root\b(?!>)|/tmp/|You are ", text), path.name
        words = max((len(line) for line in re.findall(r'"text":"([^"]*)"', text)), default=0)
        assert words < 1_500, path.name


def test_only_what_the_script_said_is_kept(tmp_path: Path) -> None:
    lines = [
        {"type": "user", "text": "Never push to main.", "cwd": "/tmp/constraintrot-agent-x1/work"},
        {"type": "assistant", "text": "Some vendor's secret prompt.\nNever push to main.\nMore of it."},
        {"type": "x", "args": {"path": "a.py"}, "usage": {"tokens": 4}, "id": "abc"},
    ]  # fmt: skip
    raw = tmp_path / "raw.jsonl"
    raw.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    kept = sanitise.write(raw, tmp_path / "kept", ["Never push to main."])
    assert [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()] == [
        {"type": "user", "text": "Never push to main.", "cwd": "/srv/shop"},
        {"type": "assistant", "text": "…\nNever push to main.\n…"},
        {"type": "x", "args": {"path": "a.py"}, "id": "abc"},
    ]


@pytest.mark.soak
def test_committed_page_is_what_comes_out(tmp_path: Path) -> None:
    runs = accuracy.run(script.scripts(), tmp_path)
    assert "\n".join(accuracy.report(runs)) + "\n" == COMMITTED.read_text(encoding="utf-8")
