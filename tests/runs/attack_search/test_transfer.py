"""Prompts found on one target and used on others; and the commands."""

from functools import partial
from pathlib import Path

import pytest

from constraintrot.attacks.search_results.journal import Journal, begin
from constraintrot.attacks.search_results.trial import Candidate
from constraintrot.errors import ConstraintRotError, ParameterError
from constraintrot.runs.attack_search import transfer
from constraintrot.runs.attack_search.report import overview, text
from constraintrot.runs.attack_search.strategies import member
from constraintrot.runs.attack_search.transfer import Matrix, Target, target
from constraintrot.runs.play import alone
from tests.attacks.search_results.cases import rows, settings, trial
from tests.attacks.search_results.cases import written as by_hand
from tests.invoked import invoked

FOLLOW, HALF, RESIST = (
    Target("scripted/obedient", {"summarizer": f"scripted/summarizer-{kind}"})
    for kind in ("follow", "half", "resist")
)


def found_on(path: Path, kind: str, name: str, **more: object) -> Journal:
    """A search that found one text of the pool."""
    found = begin(path, settings(kind, variants=1, **more))
    found.trial(0, trial(), held_out=False)
    found.prompt(1, member(name, "en"))
    found.trial(1, trial(broken=True), held_out=False)
    for number, broken in ((0, False), (1, True)):
        found.trial(number, trial(0, broken=broken), held_out=True)
        found.trial(number, trial(1), held_out=True)
    found.end(found.query(1))
    return found


def go(tmp_path: Path, searches: list[Journal], *targets: Target, **more: object) -> Matrix:
    given = {"defense": None, "log_dir": str(tmp_path / "logs"), "say": [].append, **more}
    return transfer.transfer(searches, targets, tmp_path / "t.jsonl", **given)  # type: ignore[arg-type]


def broken(matrix: Matrix) -> dict[tuple[str, str], int]:
    return {
        (name.split(",")[0], str(on).split("-")[-1]): sum(
            one.broken for one in matrix.cell(name, str(on))
        )
        for name in matrix.attacks
        for on in matrix.targets
    }


def test_the_matrix_says_what_works_where_and_goes_on(tmp_path: Path) -> None:
    searches = [
        found_on(tmp_path / "a.jsonl", "follow", "inject_note"),
        found_on(tmp_path / "b.jsonl", "half", "inject_budget"),
    ]
    first = go(tmp_path, searches, FOLLOW)
    assert len(rows(tmp_path / "t.jsonl")) == 1 + 3 * 2
    before = (tmp_path / "t.jsonl").read_bytes()
    (tmp_path / "t.jsonl").write_bytes(before[:-20])
    matrix = go(tmp_path, searches, FOLLOW, HALF)
    after = (tmp_path / "t.jsonl").read_bytes()
    assert after.startswith(before[: before[:-20].rfind(b"\n") + 1])
    assert len(rows(tmp_path / "t.jsonl")) == 1 + 3 * 2 * 2
    follow, half = searches[0].settings.target, searches[1].settings.target
    assert broken(matrix) == {
        ("no attack", "follow"): 0,
        ("no attack", "half"): 0,
        (follow, "follow"): 2,
        (follow, "half"): 0,
        (half, "follow"): 2,
        (half, "half"): 2,
    }
    assert broken(first) == {k: v for k, v in broken(matrix).items() if k[1] == "follow"}
    shown = transfer.text(matrix)
    assert shown.count("2/2 = 100 % [16, 100]") == 3
    assert shown.count("0/2 = 0 % [0, 84]") == 3


def test_a_matrix_is_played_by_one_process_at_a_time(tmp_path: Path) -> None:
    searches = [found_on(tmp_path / "a.jsonl", "follow", "inject_note")]
    holder = alone(tmp_path / "t.jsonl", folder=False)
    with holder, pytest.raises(ConstraintRotError, match="another process"):
        go(tmp_path, searches, FOLLOW)
    assert not (tmp_path / "t.jsonl").exists()


def test_against_a_defense_of_the_targets(tmp_path: Path) -> None:
    search = found_on(tmp_path / "a.jsonl", "follow", "inject_note")
    matrix = go(tmp_path, [search], FOLLOW, defense="pin")
    assert set(broken(matrix).values()) == {0}


def test_a_search_that_found_nothing_is_named_and_left_out(tmp_path: Path) -> None:
    said: list[str] = []
    empty = by_hand(tmp_path / "a.jsonl", False)
    with pytest.raises(ParameterError, match="none of these searches found an attack"):
        go(tmp_path, [empty], RESIST, say=said.append)
    assert "found nothing, and is left out" in said[0]


def test_an_agent_that_violates_what_it_sees_is_named(tmp_path: Path) -> None:
    """A report warns of an agent that violates constraints in full view, without any prompt."""
    found = found_on(tmp_path / "a.jsonl", "follow", "inject_note")
    told = "variants were violated without an attack although the\ncontext held the constraint"
    assert told not in text(found) + overview([found])
    deaf = trial().model_copy(update={"outcome": "violated"})
    found.trial(0, deaf, held_out=False)
    assert f"In the search, 1 of 1 {told}" in text(found)
    held_out = deaf.model_copy(update={"seed": 0})
    found.trial(0, held_out, held_out=True)
    assert f"Held out, 1 of 2 {told}" in text(found)
    assert f"On {found.settings.target}, 1 of 2 {told}" in overview([found])
    key = (transfer.NO_ATTACK, str(FOLLOW), "soft_email", 0)
    matrix = Matrix(tmp_path, {transfer.NO_ATTACK: None}, [FOLLOW], {key: held_out})
    assert f"On {FOLLOW}, 1 of 1 {told}" in transfer.text(matrix)


def test_one_prompt_in_two_places_is_two_attacks(tmp_path: Path) -> None:
    early = found_on(tmp_path / "a.jsonl", "follow", "inject_note", eval_variants=1)
    late = found_on(
        tmp_path / "b.jsonl", "follow", "inject_note", eval_variants=1, position="recent"
    )
    matrix = go(tmp_path, [early, late], FOLLOW)
    assert [sum(t.broken for t in matrix.cell(name, str(FOLLOW))) for name in matrix.attacks] == [
        *(0, 1, 0)
    ]


def test_searches_that_cannot_be_compared(tmp_path: Path) -> None:
    one = found_on(tmp_path / "a.jsonl", "follow", "inject_note")
    for more, message in (
        ({"families": ("soft_deploy",)}, "differ in their tasks"),
        ({"eval_seed": 4}, "differ in their tasks"),
        ({"parameters": {"rounds": 2}}, "differ in their tasks"),
        ({"parameters": {"defense": "pin"}}, "attacked several defenses"),
    ):
        (tmp_path / "b.jsonl").unlink(missing_ok=True)
        other = found_on(tmp_path / "b.jsonl", "follow", "inject_note", **more)
        with pytest.raises(ParameterError, match=message):
            go(tmp_path, [one, other], RESIST)
    (tmp_path / "b.jsonl").unlink()
    other = found_on(tmp_path / "b.jsonl", "follow", "inject_note")
    other.settings = other.settings.model_copy(update={"seed": 1})
    with pytest.raises(ParameterError, match=r"searched seeds \[1\], which are to be held out"):
        go(tmp_path, [one, other], RESIST)
    with pytest.raises(ParameterError, match="names one twice"):
        go(tmp_path, [one], RESIST, RESIST)


def test_targets_are_read() -> None:
    assert target("a/b", {"verifier": "v"}) == Target("a/b", {"verifier": "v"})
    assert target("a/b + c/d", {}) == Target("a/b", {"summarizer": "c/d"})
    assert str(target("a/b+c/d", {})) == "a/b+c/d"
    # By its name an episode is found again, which was played with this verifier.
    assert str(target("a/b+c/d", {"verifier": "v"})) == "a/b+c/d, verifier v"
    for wrong in ("", "+a/b", "a/b+", "a+b+c"):
        with pytest.raises(ParameterError, match="write AGENT or AGENT"):
            target(wrong, {})


def test_the_best_of_each_target_is_marked(tmp_path: Path) -> None:
    one = found_on(tmp_path / "a.jsonl", "follow", "inject_note")
    other = found_on(tmp_path / "b.jsonl", "follow", "inject_budget")
    other.held_out[1, "soft_email", 1] = trial(1, broken=True)
    other.prompts[1] = Candidate(text="x", made={"name": "stronger"})
    lines = overview([one, other]).splitlines()
    marked = [line for line in lines if "summarizer-follow *" in line]
    assert len(marked) == 1
    assert "stronger" in marked[0]
    assert "2/2 = 100 %" in marked[0]


# The commands.


command = partial(invoked, "attack")


def test_search_report_and_transfer_from_the_command_line(tmp_path: Path) -> None:
    out, logs = str(tmp_path / "found.jsonl"), str(tmp_path / "logs")
    asked = ["search", "soft_email, soft_email", "--model", "scripted/obedient"]
    asked += ["--strategy", "pool"]
    asked += ["--model-role", "summarizer=scripted/summarizer-half", "--queries", "3"]
    asked += ["--variants", "1", "--eval-variants", "1", "-T", "rounds=2", "--log-dir", logs]
    result = command(*asked, "--out", out, exits=0)
    assert "1/1 = 100 %" in result.stdout
    assert "prompt 3 of 3: broke 1 of 1" in result.stderr
    told = rows(Path(out))[0]["settings"]
    assert (told["families"], told["parameters"]) == (["soft_email"], {"locale": "en", "rounds": 2})
    assert command("report", out).stdout.startswith("Attack search, strategy pool")
    assert "target" in command("report", out, out).stdout
    models = "scripted/obedient+scripted/summarizer-half,scripted/obedient"
    matrix = str(tmp_path / "t.jsonl")
    result = command(
        "transfer", out, "--models", models, "--out", matrix, "--log-dir", logs, exits=0
    )
    assert "no attack" in result.stdout
    # One prompt and no attack, on one variant, on two targets of one agent.
    assert "Estimate for scripted/obedient: 4 episodes" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model-role", "summarizer"], "--model-role takes ROLE=MODEL, not 'summarizer'"),
        (["-T", "rounds"], "-T takes NAME=VALUE, not 'rounds'"),
        (["-T", "rounds=[1"], "is no value"),
        (["-T", "attack=volume"], "a search sets attack itself"),
        (["--channel", "system"], "--channel: Input should be"),
        (["--strategy", "model"], "--model-role attacker=MODEL"),
        (["--eval-seed", "20"], "both searched and held out"),
        (["--locale", "fr"], "unknown locale 'fr'"),
    ],
)
def test_wrong_arguments(tmp_path: Path, arguments: list[str], message: str) -> None:
    out = tmp_path / "found.jsonl"
    asked = ["search", "soft_email", "--model", "scripted/obedient", "--out", str(out)]
    result = command(*asked, *arguments, exits=2)
    assert message in result.stderr
    assert not out.exists()


@pytest.mark.parametrize(
    "models", ["scripted/nobody", "scripted/obedient,scripted/obedient+scripted/nobody"]
)
def test_a_target_that_does_not_exist_is_named_before_anything_is_played(
    tmp_path: Path, models: str
) -> None:
    found_on(tmp_path / "found.jsonl", "follow", "inject_note")
    out = tmp_path / "t.jsonl"
    result = command(
        "transfer", str(tmp_path / "found.jsonl"), "--models", models, "--out", str(out), exits=2
    )
    assert result.stderr.startswith(
        "constraintrot: --models scripted/nobody: unknown scripted model"
    )
    assert not out.exists()


def test_a_file_that_is_none(tmp_path: Path) -> None:
    result = command("report", str(tmp_path / "none.jsonl"), exits=2)
    assert "cannot be read" in result.stderr
