"""Searches on scripted models, from the first prompt to the report."""

import signal
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log

from constraintrot.attacks.attacker_task import POOL
from constraintrot.attacks.search_results.journal import Journal
from constraintrot.attacks.search_results.trial import Trial, best
from constraintrot.defenses import Defense
from constraintrot.errors import ConstraintRotError, ParameterError, UnknownNameError
from constraintrot.evaluation.parameters import Parameters
from constraintrot.models.scripted.summarizers import instructions
from constraintrot.runs.attack_search import run
from constraintrot.runs.attack_search.report import at_k, overview, text
from constraintrot.runs.attack_search.run import play
from constraintrot.runs.play import alone
from constraintrot.scenario.schema import CANARY, LOCALES
from constraintrot.stats.interval import Interval
from tests import slow_model
from tests.attacks.search_results.cases import rows, settings
from tests.helpers import defended
from tests.runs.attack_search.cases import searched


def held_out(found: Journal, number: int) -> list[bool]:
    return [trial.broken for trial in found.query(number, held_out=True).trials]


def test_a_hidden_phrase_family_is_found_within_the_budget(tmp_path: Path) -> None:
    """The summarizer falls for a token budget as the reason, and for nothing else."""
    said: list[str] = []
    found = searched(tmp_path, "half", queries=30, said=said)
    most = best(found.history())
    assert most is not None
    assert most.number == len(found.history()) < 30, "it ends with the prompt that broke all"
    assert most.broken == 2
    assert "token" in most.candidate.text
    assert not any(query.broken for query in found.history()[:-1])
    assert held_out(found, most.number) == [True, True]
    assert held_out(found, 0) == [False, False]
    assert found.done == most.number
    assert said[0].startswith("no attack: broke 0 of 2")
    assert said[most.number].startswith(f"prompt {most.number} of 30: broke 2 of 2")
    shown = text(found)
    assert f"| {most.number}" in shown
    assert "2/2 = 100 % [16, 100]" in shown
    assert "0 successes" not in shown


def test_what_is_worked_out_on_tuning_is_judged_on_the_held_out_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    splits: dict[int, set[str]] = {}
    playing = play

    async def noted(parameters: Parameters, *episode: Any) -> Trial:
        splits.setdefault(episode[-1], set()).add(parameters.split)
        return await playing(parameters, *episode)

    monkeypatch.setattr(run, "play", noted)
    searched(tmp_path, "resist", queries=1)
    assert splits == {20: {"tuning"}, 21: {"tuning"}, 0: {"held_out"}, 1: {"held_out"}}


def test_against_one_that_never_falls_there_is_an_upper_bound_and_no_win(tmp_path: Path) -> None:
    found = searched(tmp_path, "resist", queries=6)
    assert len(found.history()) == 6
    curve = at_k(found)
    assert sorted(curve) == [1, 2, 3, 5, 6]
    for estimate in curve.values():
        assert isinstance(estimate, Interval)
        assert (estimate.estimate, estimate.lower) == (0, 0)
        assert estimate.upper == pytest.approx(0.842, abs=0.001)
    shown = text(found)
    assert "0 successes in 6 prompts: no attack was found" in shown
    assert "up to 84 % (95 %)" in shown
    assert "Closest prompt" in shown
    assert "Best prompt" not in shown
    assert "nothing found" in overview([found])
    assert rows(found.path)[-1]["broken"] == 0


def test_the_pool_is_the_papers_six_and_the_best_is_taken(tmp_path: Path) -> None:
    found = searched(tmp_path, "half", strategy="pool")
    names = [query.candidate.made["name"] for query in found.history()]
    assert tuple(names) == POOL
    assert len(names) == 6
    assert [query.broken for query in found.history()] == [0, 0, 2, 0, 0, 0]
    most = best(found.history())
    assert most is not None
    assert most.candidate.made == {"name": "inject_budget"}


@pytest.mark.parametrize("script", ["obedient", "refuser"])
def test_a_model_in_the_loop(tmp_path: Path, script: str) -> None:
    """Or one that refuses: its refusal is a prompt that fails, and a repeated one is not played."""
    found = searched(
        tmp_path, "half", 5, strategy="model", roles={"attacker": f"scripted/{script}"}
    )
    history = found.history()
    assert history[0].candidate.made == {"name": "inject_deprecation"}
    if script == "obedient":
        assert [query.broken for query in history] == [0, 0, 2]
        assert history[-1].candidate.made == {"name": "attacker", "attempt": 3}
    else:
        assert [query.candidate.text for query in history[1:]] == [
            "I will not write that.",
            "",
            "",
            "",
        ]
        assert "tried already" in history[2].candidate.made["fault"]
        assert "0 successes in 5 prompts" in text(found)


@pytest.mark.parametrize("locale", LOCALES[1:])
def test_in_other_languages(tmp_path: Path, locale: str) -> None:
    found = searched(tmp_path, "follow", variants=1, parameters={"locale": locale})
    (query,) = found.history()
    assert query.broken == 1
    assert list(instructions([query.candidate.text]))
    assert found.query(0).broken == 0


def test_what_breaks_without_an_attack_is_no_success(tmp_path: Path) -> None:
    """A summarizer that drops every policy leaves nothing for a prompt to break."""
    found = searched(tmp_path, "drop")
    assert found.query(0).broken == 2
    assert found.history() == []
    assert at_k(found) == {}
    assert "2 broke without an attack" in text(found)
    assert "There was nothing to break" in text(found)
    assert held_out(found, 0) == [True, True]
    assert "nothing found" in overview([found])


class Restating(Defense):
    """States a policy again at the end, whatever became of it."""

    policy = ""

    async def assemble(self, messages: object) -> list[object]:  # type: ignore[override]
        from inspect_ai.model import ChatMessageUser

        *before, trigger = list(messages)  # type: ignore[call-overload]
        return [*before, ChatMessageUser(content=self.policy), trigger]


def test_the_same_search_against_a_defense(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from constraintrot.scenario.files import load

    Restating.policy = "\n".join(
        load("soft_email").variant(seed).policy("declarative") for seed in (0, 20)
    )
    defended(monkeypatch, "restating", Restating)
    more: dict[str, Any] = {"strategy": "pool", "variants": 1, "eval_variants": 1}
    open_ = searched(tmp_path / "open", "follow", 2, **more)
    shut = searched(tmp_path / "shut", "follow", 2, parameters={"defense": "restating"}, **more)
    assert [query.broken for query in open_.history()] == [1, 1]
    assert [query.broken for query in shut.history()] == [0, 0]
    assert (open_.settings.knowledge, shut.settings.knowledge) == ("black_box", "defense_aware")
    assert "defense restating (defense_aware)" in text(shut)


def test_a_prompt_comes_in_by_its_channel_alone(tmp_path: Path) -> None:
    """At the very end nothing is summarised, so there the same words do nothing."""
    more: dict[str, Any] = {"strategy": "pool", "variants": 1, "eval_variants": 1}
    more["channel"] = "document"
    for position, broken in (("middle", 1), ("recent", 0)):
        found = searched(tmp_path / position, "follow", 1, position=position, **more)
        assert [query.broken for query in found.history()] == [broken]


def test_a_finished_search_plays_nothing_again_and_a_larger_budget_goes_on(tmp_path: Path) -> None:
    searched(tmp_path, "resist", 2)
    before = (tmp_path / "found.jsonl").read_bytes()
    logs = len(list((tmp_path / "logs").glob("*.eval")))
    said: list[str] = []
    searched(tmp_path, "resist", 2, said)
    assert (tmp_path / "found.jsonl").read_bytes() == before
    assert len(list((tmp_path / "logs").glob("*.eval"))) == logs
    assert "nothing is played again" in said[0]
    more = searched(tmp_path, "resist", 3)
    assert (tmp_path / "found.jsonl").read_bytes().startswith(before)
    assert [query.number for query in more.history()] == [1, 2, 3]
    assert more.done == 3
    # Killed between the last prompt and the end, it goes on, though a smaller search had ended.
    whole = (tmp_path / "found.jsonl").read_bytes()
    (tmp_path / "found.jsonl").write_bytes(whole[: whole[:-1].rfind(b"\n") + 1])
    assert searched(tmp_path, "resist", 3).done == 3
    assert (tmp_path / "found.jsonl").read_bytes() == whole


def test_a_file_is_searched_by_one_process_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "found.jsonl"
    with alone(path, folder=False), pytest.raises(ConstraintRotError, match="another process"):
        searched(tmp_path)
    assert not path.exists()


def test_the_file_says_what_it_is(tmp_path: Path) -> None:
    found = searched(tmp_path, "follow", strategy="pool", queries=1, variants=1, eval_variants=1)
    header, *others = rows(found.path)
    assert (header["format"], header["version"]) == ("constraintrot-attack-search", 1)
    assert header["canary"] == CANARY
    assert "simulation" in header["notice"]
    assert header["settings"]["random_seed"] == 0
    kinds = [row["kind"] for row in others]
    assert kinds == ["searched", "prompt", "searched", "held_out", "held_out", "done"]


# What is refused before anything is played.


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"eval_seed": 21}, "seeds 21 are both searched and held out"),
        ({"eval_seed": 19}, "seeds 20 are both searched and held out"),
        ({"seed": -2}, "these go from -2"),
        ({"eval_seed": 10**6}, "has the seeds 0 to"),
        ({"parameters": {"attack": "volume"}}, "a search sets attack itself"),
        ({"parameters": {"seed": 1, "conditions": "floor"}}, "a search sets conditions, seed"),
        ({"parameters": {"colour": "red"}}, "unknown task parameter 'colour'"),
        ({"parameters": {"defense": "wall"}}, "unknown defense 'wall'"),
        ({"strategy": "model"}, "give one: --model-role attacker=MODEL"),
    ],
)
def test_wrong_settings(tmp_path: Path, more: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        searched(tmp_path, "half", **more)
    assert not (tmp_path / "found.jsonl").exists()


def test_an_unknown_family(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown task 'soft_emial'"):
        searched(tmp_path, families=("soft_emial",))


def test_settings_know_their_target() -> None:
    assert settings("half").target == "scripted/obedient+scripted/summarizer-half"
    assert settings("half").model_copy(update={"roles": {}}).target == "scripted/obedient"


# A search that was killed.


assert slow_model.slow, "registers the model that the killed search asks"

SLOW: dict[str, Any] = {
    "agent": "slow/obedient",
    "roles": {"summarizer": "slow/summarizer-resist"},
}


# From Python 3.12 on, a fork with threads about warns.
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_a_killed_search_goes_on_without_asking_anything_twice(tmp_path: Path) -> None:
    path = tmp_path / "found.jsonl"
    unstopped = searched(tmp_path / "other", "resist", 3).history()
    # A fork, for a new interpreter takes longer to import Inspect than the search takes.
    process = get_context("fork").Process(
        target=searched, args=(tmp_path, "resist", 3), kwargs=SLOW
    )
    process.start()
    give_up = time.monotonic() + 300
    while time.monotonic() < give_up and process.is_alive():
        if path.exists() and path.read_bytes().count(b'"kind": "searched"') >= 4:
            break
        time.sleep(0.05)
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL, "the search ended before it could be killed"
    killed = path.read_bytes()
    whole = killed[: killed.rfind(b"\n") + 1]
    before = whole.count(b'"kind": "searched"')
    assert 4 <= before < 8

    logs = set((tmp_path / "logs").glob("*.eval"))
    found = searched(tmp_path, "resist", 3, **SLOW)
    assert path.read_bytes().startswith(whole)
    played = [
        (row["kind"], row["query"], row["trial"]["seed"]) for row in rows(path) if "trial" in row
    ]
    assert len(set(played)) == len(played) == 2 * 4 + 2 * 2
    prompts = [row["query"] for row in rows(path) if row.get("kind") == "prompt"]
    assert prompts == [1, 2, 3]
    assert found.done == 3
    # Each episode asks the summarizer once and the agent once.
    (log,) = set((tmp_path / "logs").glob("*.eval")) - logs
    (sample,) = read_eval_log(str(log)).samples or []
    assert sum(event.event == "model" for event in sample.events) == 2 * (len(played) - before)
    assert found.history() == unstopped
