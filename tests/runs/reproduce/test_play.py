"""A reproduction is played look by look, goes on where it was stopped, and keeps its limit."""

from __future__ import annotations

import json
import re
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from constraintrot.errors import ConstraintRotError
from constraintrot.models.scripted.agents import Scripted
from constraintrot.runs.play import alone
from constraintrot.runs.reproduce import beside, corrections, kept, page, registration
from constraintrot.runs.reproduce import play as playing
from constraintrot.runs.reproduce.cells import Chunk, chunks
from constraintrot.runs.reproduce.kept import Meter
from constraintrot.runs.reproduce.planning import draft
from constraintrot.scenario.files import load
from tests.invoked import invoked

DECAY = "Compaction makes agents break policies"
FAMILIES = ("--families", "soft_email", "--families", "soft_deploy")
ONE = ("--model", "scripted/obedient", "--preset", "smoke", "--claims", DECAY, *FAMILIES)


run = partial(invoked, "reproduce", exits=0)


def registered(folder: Path, *further: object) -> registration.Registration:
    run("plan", *ONE, "-o", folder, *further)
    return registration.read(folder / registration.FILE)


def verdicts(folder: Path) -> dict[str, str]:
    data = json.loads((folder / page.NAMES[2]).read_text())
    return {claim["title"]: claim["verdict"] for claim in data["claims"]}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reproduction that was played to its end; no test changes it."""
    folder = tmp_path_factory.mktemp("played") / "whole"
    run(*ONE, "-o", folder)
    return folder


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same of two requests."""
    folder = tmp_path_factory.mktemp("played") / "few"
    run(*ONE, "--pairs", 2, "-o", folder)
    return folder


def test_a_killed_run_goes_on_and_ends_as_an_unbroken_one(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken"
    calls: list[Chunk] = []
    play = playing._play

    def once(registration_: Any, folder: Path, chunk: Chunk, *given: Any, **more: Any) -> None:
        if calls:
            raise KeyboardInterrupt
        calls.append(chunk)
        play(registration_, folder, chunk, *given, **more)

    monkeypatch.setattr(playing, "_play", once)
    run(*ONE, "-o", broken, exits=1)
    monkeypatch.setattr(playing, "_play", play)
    before = {path: path.stat().st_mtime_ns for path in broken.rglob("*.eval")}
    assert before
    run(*ONE, "-o", broken)
    after = {path: path.stat().st_mtime_ns for path in broken.rglob("*.eval")}
    assert before.items() <= after.items(), "what was played is not played again"
    assert verdicts(broken) == verdicts(whole)
    for name in page.NAMES:
        assert (broken / name).read_text() == (whole / name).read_text(), name
    text = (whole / "claims.html").read_text()
    assert "<svg" in text
    assert "Content-Security-Policy" in text
    assert "<td>by construction</td>" in text.replace("\n", "")
    told = (whole / "claims.md").read_text()
    assert "**By construction.** The agent is a script" in told
    assert told.count("a verdict is about what stands in its last input") == 2, "opening and claim"
    assert f"digest {registration.read(whole / registration.FILE).digest[:16]}" in text
    made_again(whole, tmp_path / "kept", monkeypatch)


def test_a_folder_is_played_by_one_process_at_a_time(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "same"
    shutil.copytree(whole, folder)
    with alone(folder):
        told = run("play", folder, exits=2)
        assert f"another process plays {folder}; wait for its end" in told.output
    run("play", folder)


def test_a_play_says_what_is_played_and_how_much_is_left(tmp_path: Path) -> None:
    registered(tmp_path, "--pairs", 2)
    run("qualify", tmp_path)
    lines = [line for line in run("play", tmp_path).output.splitlines() if " left in" in line]
    assert lines[0] == "look 1 of 2: control, 2 episodes; 4 left in this look"
    assert re.fullmatch(
        r"look 1 of 2: compaction, 2 episodes; 2 left in this look, about \d+ minutes", lines[1]
    )


def test_a_page_says_how_many_requests_were_asked_for(few: Path) -> None:
    told = (few / "claims.md").read_text()
    assert "Each claim has up to 2 requests, and not the preset's 12." in told


def made_again(whole: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a page without its logs, by a later version."""
    folder.mkdir()
    for name in (registration.FILE, playing.QUALIFICATION, kept.EPISODES, kept.FACTS):
        shutil.copy(whole / name, folder)
    monkeypatch.setattr(kept, "code", lambda: {"version": "9", "sources": "later"})
    run("page", folder)
    for name in page.NAMES:
        without = (folder / name).read_text()
        for told in (f"{page._WITHOUT_LOGS}\n\n", f"<p>{page._WITHOUT_LOGS}</p>\n"):
            without = without.replace(told, "")
        without = without.replace('"from_logs": false', '"from_logs": true')
        assert without == (whole / name).read_text(), name
    assert "has no logs to go on from" in run("play", folder, exits=2).output
    lost = (folder / kept.EPISODES).read_text().splitlines(keepends=True)
    (folder / kept.EPISODES).write_text("".join(lost[: len(lost) // 2]))
    run("page", folder)
    assert (folder / "claims.md").read_text() != (whole / "claims.md").read_text()


def test_a_limit_of_dollars_stops_the_play(tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("scripted/obedient: {input: 3, output: 15}")
    made = registered(tmp_path / "run", "--prices", prices, "--dollars", 100)
    playing.qualify(made, tmp_path / "run")
    spent = Meter(tmp_path / "run", made.prices).dollars
    assert spent > 0, "the qualification is paid too"
    little = made.model_copy(update={"dollars": spent + 0.05})
    told: list[str] = []
    state = playing.play(little, tmp_path / "run", told.append)
    assert "are spent, and the next episodes may cost" in state.stopped
    assert Meter(tmp_path / "run", made.prices).dollars <= spent + 0.05
    whole = playing.play(made, tmp_path / "run", told.append)
    assert whole.stopped == ""
    assert whole.dollars > spent


def test_a_limit_without_a_price_plays_nothing(tmp_path: Path) -> None:
    made = registered(tmp_path)
    playing.qualify(made, tmp_path)
    unpriced = made.model_copy(update={"model": "nobody/nothing", "dollars": 1.0})
    purse = playing._Purse(Meter(tmp_path, {}), unpriced, tmp_path)
    needed, there = playing.needs(made, playing.sizes_of(made, made.families), {}, 1)
    chunk = next(iter(chunks(needed, there, 0)))
    cell = type(chunk.cell)(chunk.cell.text, "nobody/nothing")
    assert "no price of nobody/nothing" in purse.forbids(
        purse.of(Chunk(cell, ("soft_email",), 0, 1))
    )


def test_what_costs_more_than_its_estimate_is_expected_to_do_so_again(tmp_path: Path) -> None:
    made = registered(tmp_path).model_copy(
        update={"prices": {"scripted/obedient": {"input": 1.0, "output": 1.0}}, "dollars": 3.0}
    )
    needed, there = playing.needs(made, playing.sizes_of(made, made.families), {}, 1)
    chunk = next(iter(chunks(needed, there, 0)))
    meter = Meter(tmp_path, made.prices)
    purse = playing._Purse(meter, made, tmp_path)
    with purse.pays(purse.of(chunk), tmp_path):  # with a judge that no estimate has
        meter.write("scripted/obedient", {"input_tokens": 2_000_000})
    assert "may cost $ 2.00" in purse.forbids(purse.of(chunk))
    # So it does after a restart.
    again = playing._Purse(Meter(tmp_path, made.prices), made, tmp_path)
    again.recall(chunk)
    assert again.forbids(again.of(chunk)) == purse.forbids(purse.of(chunk))


def test_answers_without_usage_are_charged_the_estimate(whole: Path, tmp_path: Path) -> None:
    priced = {"prices": {"scripted/obedient": {"input": 1.0, "output": 1.0}}, "dollars": 3.0}
    made = registration.read(whole / registration.FILE).model_copy(update=priced)
    purse = playing._Purse(meter := Meter(tmp_path, made.prices), made, tmp_path)
    for logs, charged in ((tmp_path, 0.0), (whole / playing.QUALIFIED, purse.qualification.most)):
        with purse.pays(purse.qualification, logs):
            pass
        assert meter.dollars == pytest.approx(charged)


def test_a_restart_expects_what_the_evaluations_before_it_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What they paid is held against all of their estimates, not against the qualification's alone."""
    prices = tmp_path / "prices.yaml"
    prices.write_text("scripted/obedient: {input: 3, output: 15}")
    folder, play = tmp_path / "run", playing._play
    made = registered(folder, "--prices", prices, "--dollars", 100)
    playing.qualify(made, folder)
    ratios: list[float] = []

    def third_stops(*given: Any, **more: Any) -> None:
        purse = given[3]
        ratios.append(purse._paid / purse._estimated)
        if len(ratios) >= 3:
            raise KeyboardInterrupt
        play(*given, **more)

    monkeypatch.setattr(playing, "_play", third_stops)
    for _ in ("the first call", "its restart"):
        with pytest.raises(KeyboardInterrupt):
            playing.play(made, folder, print)
    *_, before, again = ratios
    assert again == pytest.approx(before)


def test_the_qualification_is_a_part_of_the_limit(tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("scripted/obedient: {input: 300, output: 1500}")
    refused = run(*ONE, "--prices", prices, "--dollars", 1, "-o", tmp_path / "a", exits=2).output
    assert "no claim is planned, so there is nothing to play" in refused
    made = registered(tmp_path / "b", "--prices", prices, "--dollars", 10_000)
    little = made.model_copy(update={"dollars": 0.5})
    with pytest.raises(ConstraintRotError, match="are spent, and the qualification may cost"):
        playing.qualify(little, tmp_path / "b")
    assert not list((tmp_path / "b").rglob("*.eval"))


def test_the_limit_counts_a_judge_by_the_price_that_was_given(tmp_path: Path) -> None:
    preset, roles = registration.presets()["smoke"], {"judge": "openai-api/x/a, openai-api/x/b"}
    asked = partial(draft, "scripted/obedient", preset, "smoke", (DECAY,), roles=roles, dollars=9)
    purse = playing._Purse(Meter(tmp_path, {}), asked(), tmp_path)
    assert "no price of openai-api/x/a, so that no limit" in purse.forbids(purse.qualification)
    prices = tmp_path / "prices.yaml"
    prices.write_text("openai-api/x/: {input: 1, output: 1}")
    made = asked(prices=prices)
    meter = Meter(tmp_path, made.prices)
    purse = playing._Purse(meter, made, tmp_path)
    assert purse.forbids(purse.qualification) == ""
    for name in ("a", "b"):
        meter.write(f"openai-api/x/{name}", {"input_tokens": 2_000_000})
    assert meter.dollars == 4.0


def test_an_outage_is_not_taken_for_lost_episodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*_: Any) -> Any:
        raise RuntimeError("the key was revoked")

    def stops(step: str) -> None:
        with monkeypatch.context() as outage:
            outage.setattr(Scripted, "_act", down)
            told = run(step, tmp_path, exits=2).output
        assert "have no verdict; the same command plays them again" in told
        assert "the key was revoked" in told

    (prices := tmp_path / "prices.yaml").write_text("scripted/obedient: {input: 3, output: 15}")
    made = registered(tmp_path, "--pairs", 2, "--prices", prices, "--dollars", 100)
    stops("qualify")
    assert not (tmp_path / playing.QUALIFICATION).exists()
    assert Meter(tmp_path, made.prices).dollars == 0, "nothing was answered"
    run("qualify", tmp_path)
    spent = Meter(tmp_path, made.prices).dollars
    stops("play")
    assert Meter(tmp_path, made.prices).dollars == spent
    assert not list(tmp_path.rglob(kept.DONE))
    shutil.copytree(tmp_path, lost := tmp_path / "lost")
    run("play", tmp_path)
    assert kept.raw(tmp_path)["violation"].notna().all()
    act, trigger = Scripted._act, load("soft_email").variant(0, "held_out").trigger

    def now_and_then(model: Any, texts: Any, *given: Any) -> Any:
        lost_one = any(trigger in text for text in texts)
        return down() if lost_one else act(model, texts, *given)

    with monkeypatch.context() as outage:
        outage.setattr(Scripted, "_act", now_and_then)
        run("play", lost, "--accept-lost")
    run("page", lost)
    assert "computed from 2 episodes (2 more have no verdict)" in (lost / "claims.md").read_text()


def test_the_call_after_a_line_that_was_cut_off_is_paid(tmp_path: Path) -> None:
    prices = {"openai/x": {"input": 1.0, "output": 1.0}}
    Meter(tmp_path, prices).write("openai/x", {"input_tokens": 1_000_000})
    with (tmp_path / kept.FILE).open("a") as file:
        file.write('{"time": 1, "mod')
    for _ in range(2):
        Meter(tmp_path, prices).write("openai/x", {"input_tokens": 1_000_000})
    assert Meter(tmp_path, prices).dollars == pytest.approx(3.0)


def test_episodes_of_other_claims_do_not_count(tmp_path: Path) -> None:
    made = registered(tmp_path)
    found = playing.sizes_of(made, ("soft_email", "soft_deploy"))[DECAY]
    assert [sum(one.values()) for one in found] == [6, 12]


def test_a_subject_that_qualifies_nowhere_is_told_so(tmp_path: Path) -> None:
    reckless = ("--model", "scripted/reckless", *ONE[2:6], "--families", "soft_email")
    for arguments in ((*reckless, "-o", tmp_path), ("page", tmp_path)):
        refused = run(*arguments, exits=2)
        assert "scripted/reckless qualifies on no family" in refused.output


def test_what_is_not_qualified_yet_is_sent_to_the_right_command(tmp_path: Path) -> None:
    registered(tmp_path)
    for step in ("play", "page"):
        refused = run(step, tmp_path, exits=2)
        assert f"run `constraintrot reproduce qualify {tmp_path}` first" in refused.output


@pytest.mark.parametrize("models", [("m/a", "m/b"), ("m/a", "m/a")])
def test_models_stand_side_by_side(tmp_path: Path, models: tuple[str, str]) -> None:
    """One model under two settings too, which the names of the folders tell apart."""
    same = {
        "title": DECAY, "verdict": "same", "reasons": [], "p_value": 0.03, "adjusted": 0.00684,
        "by_family": {"families": 4, "p_value": 0.125},
    }  # fmt: skip
    untold = {
        "title": DECAY, "verdict": "cannot tell", "reasons": [{"reason": "n", "words": ""}],
        "p_value": 0.2, "adjusted": 0.2,
    }  # fmt: skip
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder, model, claim in zip(folders, models, (same, untold), strict=True):
        folder.mkdir()
        digest = f"{folder.name * 16}more"
        data = {"model": model, "preset": "paper", "registration": digest, "claims": [claim]}
        (folder / "claims.json").write_text(json.dumps(data))
    beside.side_by_side(folders)
    text = (tmp_path / "a" / "side-by-side.md").read_text()
    assert f"| {DECAY} | same, p = 0.0068 | cannot tell (n) |" in text
    first, second = ("m/a, paper", "m/b, paper") if len(set(models)) == 2 else (
        "m/a, paper (a)", "m/a, paper (b)",
    )  # fmt: skip
    assert f"| claim | {first} | {second} |" in text
    assert f"| {DECAY} | {first} | same | 0.0068 | 0.06 | 0.12 (4) | {'a' * 16} |" in text
    assert f"| {second} | {'b' * 16} | - | - |" in text


def test_episodes_that_two_reproductions_share_are_counted(
    whole: Path, few: Path, tmp_path: Path
) -> None:
    """The first plays more variants: all of the second, under the same settings."""
    folders = [tmp_path / name for name in ("whole", "few", "fresh")]
    for folder, played in zip(folders, (whole, few), strict=False):
        shutil.copytree(played, folder)
    run(*ONE, "--pairs", 2, "--seed", 20, "-o", folders[2])
    beside.side_by_side(folders)
    text = (folders[0] / "side-by-side.md").read_text()
    more, less, fresh = text.splitlines()[-3:]
    assert more.endswith("| 24 | 4 |")
    assert less.endswith("| 4 | 4 |")
    assert fresh.endswith("| 4 | 0 |")
    assert "Variants from seed 20 on." in (folders[2] / "claims.md").read_text()
    assert set(kept.raw(folders[2])["seed"]) == {20}


def test_a_page_says_which_code_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever code makes the page."""
    made = registered(tmp_path, "--pairs", 2)
    playing.qualify(made, tmp_path)
    with monkeypatch.context() as other:
        other.setattr(kept, "code", lambda: {"version": "9", "sources": "other"})
        playing.play(made, tmp_path, print)
    run("page", tmp_path)
    assert kept.played(made, tmp_path).code == {"version": "9", "sources": "other"}
    assert "The code is 9 (other), and " in (tmp_path / "claims.md").read_text()
    (done, *_) = (tmp_path / kept.LOGS).glob(f"*/{kept.DONE}")
    for text in ("{", "[]"):
        done.write_text(text)
        assert kept.DONE in run("page", tmp_path, exits=2).output


def test_a_withdrawn_verdict_stands_on_the_page_as_what_it_was(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    assert verdicts(tmp_path) == {DECAY: "same"}
    correction = {"claim": DECAY, "day": "2026-11-28", "because": "the moon was full"}
    (tmp_path / corrections.FILE).write_text(json.dumps([correction]))
    run("page", tmp_path)
    assert verdicts(tmp_path) == {DECAY: "cannot tell"}
    told = (tmp_path / "claims.md").read_text()
    assert "**Cannot tell (withdrawn).**" in told
    assert "**Before.** *same* until 2026-11-28: the moon was full." in told
    correction["claim"] = "Volume evicts a policy"
    (tmp_path / corrections.FILE).write_text(json.dumps([correction]))
    assert "has no verdict to withdraw" in run("page", tmp_path, exits=2).output
