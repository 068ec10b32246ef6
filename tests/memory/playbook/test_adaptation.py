"""Adaptation pays on the desk task, and the collapse probe sees a collapse and none."""

from itertools import pairwise
from pathlib import Path

import anyio
import pytest
from inspect_ai.model import ChatMessageUser, Model, get_model

from constraintrot.errors import ConstraintRotError
from constraintrot.memory.playbook import (
    COUNTERS_ONLY,
    Add,
    Playbook,
    PlaybookError,
    read_rendered,
)
from constraintrot.memory.playbook.adaptation import (
    Memory,
    PlaybookMemory,
    Trajectory,
    evaluate,
    offline,
    online,
)
from constraintrot.memory.playbook.roles import Reflection, curate, reflect
from results.tools import their_claims
from results.tools.playbook import collapse_steps, desk
from results.tools.playbook.adaptation import Nothing, RewrittenMemory
from results.tools.playbook.collapse import (
    Measured,
    measure,
    memories,
    one_step_shrink,
    probe,
    shown,
)
from results.tools.playbook.starvation import PROTECTED, starvation, survives
from tests.helpers import answering


def scripted(name: str) -> Model:
    return get_model(f"scripted/{name}")


def test_a_playbook_that_learned_from_errors_solves_what_none_does() -> None:
    model = scripted("obedient")
    play = desk.play(model)
    training, test = desk.requests(test=False), desk.requests(test=True)[:16]
    assert {one.text for one in training} & {one.text for one in test} == set()
    memory = PlaybookMemory(Playbook(budget=400), model, model)

    async def played() -> tuple[list[bool], list[bool], list[bool], list[int]]:
        before = await evaluate(Nothing(), test, play)
        steps = await offline(memory, training[:16], play, epochs=2)
        assert [(one.epoch, one.number) for one in steps] == [
            (epoch, number) for epoch in (1, 2) for number in range(1, 17)
        ]
        assert steps[0].cost.calls == 2
        assert all(one.cost.input_tokens > 0 for one in steps)
        fresh = PlaybookMemory(Playbook(), model, model)
        rolling = [one.success for one in await online(fresh, test, play)]
        return before, await evaluate(memory, test, play), rolling, [one.size for one in steps]

    before, after, rolling, sizes = anyio.run(played)
    assert before == [False] * 16
    assert after == [True] * 16
    # Online each tool fails once and is known from then on.
    assert rolling == [False] * 8 + [True] * 8
    assert max(sizes) <= 400
    lessons = list(read_rendered(memory.render()))
    assert len(lessons) == len(desk.TOOLS)
    # Every success with a lesson is counted for it, by code.
    assert [one.helpful for one in lessons] == [3] * 8


def test_a_play_that_says_nothing_of_how_it_went_is_said() -> None:
    async def play(task: str, playbook: str) -> Trajectory:
        return None  # type: ignore[return-value]

    for use in (evaluate, offline):
        with pytest.raises(PlaybookError, match="play gives a Trajectory, and not None"):
            anyio.run(use, Nothing(), ["a task"], play)


def test_the_reflector_is_asked_again_until_nothing_changes() -> None:
    answers = iter(
        ['{"insights": ["a"]}', '{"insights": ["a", "b"]}', '{"insights": ["a", "b"]}', "?"]
    )
    model = answering(lambda: next(answers))

    async def asked(rounds: int) -> Reflection:
        return await reflect(model, [ChatMessageUser(content="x")], "", rounds=rounds)

    found = anyio.run(asked, 5)
    assert ([one["text"] for one in found.insights], found.cost.calls) == (["a", "b"], 3)
    assert anyio.run(asked, 1).faults == ("no insights: '?'",)


def test_no_insight_asks_no_curator_and_a_curator_counts_nothing() -> None:
    model = answering('[{"op": "COUNT", "id": "a", "helpful": 9}, {"op": "ADD", "text": "b"}]')
    delta, cost = anyio.run(curate, model, "", Reflection())
    assert (delta.operations, cost.calls) == ((), 0)
    delta, cost = anyio.run(curate, model, "", Reflection(({"text": "b"},)))
    assert (delta.operations, cost.calls) == ((Add(text="b"),), 1)


def measured(memory: Memory, steps: int, facts: int = 4) -> list[Measured]:
    async def all_steps() -> list[Measured]:
        return [row async for row in probe(memory, steps=steps, facts=facts, rule_every=4)]

    return anyio.run(all_steps)


def test_over_sixty_steps_a_rewriter_collapses_and_a_playbook_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("constraintrot.memory.scripted.COLLAPSES_AT", 2_000)
    rewritten = measured(RewrittenMemory(scripted("summarizer-collapse")), 64, 2)
    assert one_step_shrink([row.tokens for row in rewritten]) > 0.98
    at = next(row for before, row in pairwise(rewritten) if row.tokens < before.tokens)
    assert at.step > 40
    assert (at.rules_kept, at.facts_kept) == (0, 0)
    hoarding = scripted("summarizer-hoard")
    playbook = PlaybookMemory(Playbook(budget=1_200), hoarding, hoarding)
    bulleted = measured(playbook, 64, 2)
    assert all(row.rules_verbatim == row.rules for row in bulleted)
    assert max(row.tokens for row in bulleted) <= 1_200
    assert bulleted[-1].facts_kept < bulleted[-1].facts


def test_a_probe_that_was_stopped_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "steps.csv"
    model = scripted("summarizer-hoard")
    settings = {"facts": 2, "rule_every": 2}

    def run(name: str, steps: int, to: Path) -> None:
        make = memories(model, 100)[name]

        async def measuring() -> None:
            await measure(name, "scripted/x", make, to, {**settings, "steps": steps})

        anyio.run(measuring)

    def stop(*_: object) -> None:
        raise RuntimeError("stopped")

    for name in ("rewrite", "proactive"):
        with pytest.MonkeyPatch.context() as patch:
            # After the first row, before its state is there; then before the last is thrown away.
            patch.setattr(Path, "replace", stop)
            with pytest.raises(RuntimeError, match="stopped"):
                run(name, 3, path)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("results.tools.playbook.collapse._done", stop)
            with pytest.raises(RuntimeError, match="stopped"):
                run(name, 3, path)
        run(name, 6, path)
    once = tmp_path / "once.csv"
    for name in ("rewrite", "proactive"):
        run(name, 6, once)
    stopped, whole = (
        [line.rsplit(",", 1)[0] for line in one.read_text().splitlines()] for one in (path, once)
    )
    assert stopped == whole
    assert [one.name for one in tmp_path.iterdir() if "state" in one.name] == []
    (first, second) = collapse_steps.read(path)
    section = collapse_steps.section([first, second])
    assert (first.name, first.model) == ("rewrite", "scripted/x")
    assert [type(one).__name__ for one in section.blocks] == ["Figure", "Figure", "Table"]
    assert "rewrite: from" in section.blocks[0].alt  # type: ignore[union-attr]
    path.write_text("\ufeff" + path.read_text("utf-8"), encoding="utf-8")
    assert collapse_steps.read(path) == [first, second]
    for text in ("a,b\n1,2\n", "", "A line of prose.\n"):
        path.write_text(text)
        with pytest.raises(ConstraintRotError, match="holds no steps of the collapse probe"):
            collapse_steps.read(path)


def test_what_is_shown_is_new_at_each_step_and_is_found_again() -> None:
    facts = [fact for step in range(1, 81) for fact in shown(step, 20, 8)]
    assert len({fact.text for fact in facts}) == len(facts) == 1_610
    assert sum(fact.rule for fact in facts) == 10
    for fact in facts[:200]:
        assert fact.kept([fact.text.casefold()])
        assert not fact.kept(["something else"])


def test_counters_starve_a_rule_the_less_it_is_cited_and_kinds_prevent_it() -> None:
    assert not survives(COUNTERS_ONLY, 0.0, 1, 60, 40)
    assert survives(PROTECTED, 0.0, 1, 60, 40)


def test_the_committed_curve_falls_and_is_flat_with_kinds() -> None:
    root = Path(__file__).parents[3] / "results"
    rows = their_claims.read(root / "playbook-starvation.csv")
    alone = [int(row["lost"]) for row in rows if row["pruning"] == "by counters alone"]
    assert alone == sorted(alone, reverse=True)
    assert alone[0] == 200
    assert not any(int(row["lost"]) for row in rows if row["pruning"] == "kinds protected")
    few = [row.lost for row in starvation(runs=1, steps=50, most=20)]
    assert len(few) == len(rows)


def test_a_memory_takes_a_models_name_and_an_epoch_is_asked_for() -> None:
    memory = PlaybookMemory(Playbook(), "scripted/obedient", "scripted/obedient")
    assert str(memory.reflector) == str(memory.curator) == "scripted/obedient"
    assert str(RewrittenMemory("scripted/obedient").rewriter) == "scripted/obedient"

    async def none() -> None:
        await offline(memory, desk.requests(test=False), desk.play(memory.reflector), epochs=0)

    with pytest.raises(ConstraintRotError, match="epochs is a whole number, 1 or more, not 0"):
        anyio.run(none)
