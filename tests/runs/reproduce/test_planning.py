"""What is planned, in which order, for how much; and that a registration cannot be changed unseen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from constraintrot.errors import ConstraintRotError, ParameterError
from constraintrot.report.claims.declared import paper
from constraintrot.runs.plan import planned as episodes
from constraintrot.runs.prices import cost, price_of, usage_cost
from constraintrot.runs.reproduce import planning, registration
from constraintrot.runs.reproduce.cells import TASK, cells, chunks, of_tests, requests, seeds
from constraintrot.runs.reproduce.planning import (
    NO_OTHER,
    Line,
    draft,
    needed,
    plan,
    qualification_size,
    text,
)
from tests.invoked import invoked

PRESETS = registration.presets()
DECAY = "Compaction makes agents break policies"
PIN = "Pinning restores obedience"


def drafted(*titles: str, preset: str = "smoke", **given: Any) -> registration.Registration:
    return draft("scripted/obedient", PRESETS[preset], preset, titles, **given)


def planned(of: registration.Registration) -> dict[str, Line]:
    return {line.planned.title: line for line in plan(of, PRESETS[of.preset])}


def test_every_claim_of_the_paper_is_planned_or_says_why_not() -> None:
    lines = planned(drafted())
    assert set(lines) == {claim.title for claim in paper().claims}
    unplanned = {
        title: line.planned.because for title, line in lines.items() if not line.planned.pairs
    }
    assert unplanned == {"The compactor, not the agent": NO_OTHER}


def test_some_families_are_asked_of_and_claims_that_need_others_say_so() -> None:
    made = drafted(DECAY, "Soft policies decay", families=("hard_pii", "soft_email"))
    assert made.families == ("soft_email", "hard_pii")
    lines = planned(made)
    assert lines[DECAY].planned.pairs
    (claim,) = [one for one in made.claims.claims if one.title == DECAY]
    played = {name for named in cells(claim, made.claims, made).values() for name in named}
    assert played == {"soft_email", "hard_pii"}
    with pytest.raises(ParameterError, match="there is no family soft_mail; there are soft_email"):
        drafted(DECAY, families=("soft_mail",))
    soft = planned(drafted("Soft policies decay", families=("soft_email",)))
    assert all(not line.planned.pairs and line.planned.because for line in soft.values())


@pytest.mark.parametrize(
    ("name", "value"),
    [("wording", "reminder"), ("channel", "memory"), ("locale", "zh"), ("rounds", 2)],
)
def test_a_setting_goes_before_what_all_claims_hold(name: str, value: object) -> None:
    made = drafted(DECAY, settings={name: value})
    (claim,) = made.claims.claims
    assert made.claims.held[name] == value
    played = [cell.args for cell in cells(claim, made.claims, made)]
    assert {args.get(name) for args in played if args["conditions"] == "compaction"} == {value}


@pytest.mark.parametrize("name", ["agent", "summary_by", "allowed", "families", "colour"])
def test_what_is_no_parameter_of_a_task_is_refused(name: str) -> None:
    with pytest.raises(ParameterError, match=f"unknown task parameter '{name}'; known: cond"):
        drafted(DECAY, settings={name: "x"})


def test_all_wordings_are_played_and_restrict_no_query() -> None:
    made = drafted(DECAY, settings={"wording": "all"})
    (claim,) = made.claims.claims
    assert made.claims.held["wording"] is None
    assert {cell.args["wording"] for cell in cells(claim, made.claims, made)} == {"all"}


def test_a_number_of_pairs_takes_the_place_of_the_planned_one(tmp_path: Path) -> None:
    given = ("--model", "scripted/obedient", "--claims", DECAY, "-o", tmp_path)
    for preset, pairs in (("paper", 5), ("smoke", 30)):
        words = ("reproduce", "plan", "--preset", preset, "--pairs", pairs)
        done = invoked(*words, *given, exits=0)
        assert f"Up to {pairs} requests a claim, whatever its power; every family" in done.output
        made = registration.read(tmp_path / registration.FILE)
        assert [one.pairs for one in made.planned] == [pairs]
        (tmp_path / registration.FILE).unlink()
    assert invoked("reproduce", "plan", "--pairs", 0, *given).exit_code == 2


def test_a_claim_whose_framework_is_missing_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(text: str) -> None:
        if text != "replay":
            raise ParameterError(f"harness {text} needs a package, which is not installed")

    monkeypatch.setattr(planning, "parse_harness", parse)
    lines = planned(drafted("LangGraph", DECAY))
    left = [line.planned for line in lines.values() if not line.planned.pairs]
    assert lines[DECAY].planned.pairs
    assert left
    assert all("needs a package, which is not installed" in one.because for one in left)


def test_a_second_model_plays_and_summarises() -> None:
    made = drafted("compactor, not", other="scripted/forgetful")
    (claim,) = made.claims.claims
    found = {(cell.agent, cell.summarizer) for cell in cells(claim, made.claims, made)}
    a, b = "scripted/obedient", "scripted/forgetful"
    assert found == {(a, None), (a, b), (b, None), (b, a)}


def test_what_claims_share_is_played_once() -> None:
    lines = planned(drafted(DECAY, PIN))
    alone = planned(drafted(PIN))
    assert lines[PIN].size == alone[PIN].size
    assert lines[PIN].added.episodes < lines[PIN].size.episodes


def test_no_episode_is_played_in_two_cells() -> None:
    """A claim whose arm held an episode twice could not be told."""
    for preset in PRESETS:
        made = drafted(preset=preset)
        found = {
            cell: families
            for claim in made.claims.claims
            for cell, families in cells(claim, made.claims, made).items()
            if "other" not in (cell.agent, cell.summarizer)
        }
        facts = [
            (cell.agent, *planned_facts(cell.args, families[0])) for cell, families in found.items()
        ]
        assert len(set(facts)) == len(facts), preset


def planned_facts(args: dict[str, Any], family: str) -> tuple[str, ...]:
    (one,) = episodes(TASK, {**args, "families": [family], "seed": 0, "variants": 1})
    return one.digest, str(args["defenses"])


def test_a_claim_takes_as_many_pairs_as_its_rule_needs() -> None:
    claim = next(one for one in paper().claims if one.title == DECAY)
    control, after = claim.tests[0].a, claim.tests[0].b
    strong, weak = (needed(claim, {control: 0.0, after: rate}, 0.1, 4, 30) for rate in (0.9, 0.3))
    assert strong is not None
    assert weak is not None
    assert strong < weak
    assert needed(claim, {control: 0.0, after: 0.9}, 0.1, 4, 1) < strong  # type: ignore[operator]
    assert needed(claim, {control: 0.3, after: 0.3}, 0.1, 4, 30) is None


def test_a_claim_without_room_is_not_played() -> None:
    lines = planned(drafted("worse than never", preset="paper"))
    (line,) = lines.values()
    assert line.planned.pairs > 0, "by the paper's rates"
    claim = next(one for one in paper().claims if "worse than never" in one.title)
    at_ceiling = dict.fromkeys(claim.arms, 1.0)
    assert needed(claim, at_ceiling, 0.1, 4, 30) is None


def test_a_limit_of_dollars_leaves_claims_out_and_says_which(tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("scripted/obedient: {input: 3, output: 15}")
    whole = planned(drafted(DECAY, PIN, prices=prices))
    dollars = [line.dollars[1] for line in whole.values() if line.dollars]
    assert len(dollars) == 2
    made = drafted(DECAY, PIN, prices=prices)
    first = cost(made.model, qualification_size(made), made.prices)
    assert first is not None
    part = planned(drafted(DECAY, PIN, prices=prices, dollars=first[1] + sum(dollars) - 0.001))
    assert [line.planned.pairs > 0 for line in part.values()] == [True, False]
    assert "over the limit of $" in list(part.values())[1].planned.because


def test_a_dear_second_model_counts_against_the_limit(tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text(
        "scripted/obedient: {input: 1, output: 1}\nopenai/dear: {input: 9, output: 9}"
    )
    (line,) = planned(drafted("compactor, not", other="openai/dear", prices=prices)).values()
    (cheap,) = planned(drafted("compactor, not", other="scripted/obedient", prices=prices)).values()
    assert line.dollars is not None
    assert cheap.dollars is not None
    assert line.dollars[1] > 6 * cheap.dollars[1]


def test_seeds_are_of_different_requests() -> None:
    made = drafted(DECAY)
    grown = requests(made.claims.claims[0], made.claims, ("soft_email",))
    found = seeds(grown, 30, [("soft_email",)])["soft_email"]
    assert grown["soft_email"][found - 1] >= 30 > grown["soft_email"][found - 2]
    assert found > 30, "several seeds of this family draw one request"


@pytest.mark.parametrize("preset", ["smoke", "paper"])
def test_each_test_of_a_claim_has_the_planned_requests(preset: str) -> None:
    """The arms of one test may be of other families than those of the next."""
    made = draft("a/model", PRESETS[preset], preset)
    lines = {line.planned.title: line.planned.pairs for line in plan(made, PRESETS[preset])}
    several = 0
    for claim in made.claims.claims:
        if not lines[claim.title]:
            continue
        asked = claim, made.claims, made.families
        grown, together = requests(*asked), of_tests(*asked)
        number = seeds(grown, lines[claim.title], together)
        several += len(set(together)) > 1
        for names in together:
            drawn = sum(grown[name][number[name] - 1] for name in names)
            assert drawn >= lines[claim.title], claim.title
    assert several


def test_a_family_that_does_not_qualify_asks_no_more_of_the_others() -> None:
    grown = {"soft_email": [1, 2, 3], "soft_spend": [1, 2, 3]}
    assert seeds(grown, 4, [("soft_email", "soft_spend"), ()]) == dict.fromkeys(grown, 2)


def test_what_was_played_is_not_played_again() -> None:
    made = drafted(DECAY)
    cell = next(iter(cells(made.claims.claims[0], made.claims, made)))
    found = list(chunks({cell: {"soft_email": 6, "soft_spend": 6}}, {cell: {"soft_email": 2}}, 0))
    assert [(one.families, one.start, one.stop) for one in found] == [
        (("soft_email",), 2, 6),
        (("soft_spend",), 0, 6),
    ]


def test_a_plan_from_a_later_seed_has_the_seeds_that_are_left() -> None:
    made = drafted(DECAY, seed=57, families=("soft_email",))
    assert planned(made)[DECAY].planned.pairs <= 3
    assert made.sealed.digest != drafted(DECAY, families=("soft_email",)).sealed.digest


def test_a_changed_registration_is_refused(tmp_path: Path) -> None:
    path = tmp_path / registration.FILE
    registration.write(path, drafted(DECAY))
    registration.write(path, drafted(DECAY))
    assert registration.read(path).digest == drafted(DECAY).sealed.digest
    with pytest.raises(ConstraintRotError, match="registers another plan"):
        registration.write(path, drafted(PIN))
    path.write_text(path.read_text().replace("margin: 0.1", "margin: 0.2"))
    with pytest.raises(ConstraintRotError, match="was changed after it had been written"):
        registration.read(path)


def test_an_unknown_claim_is_named() -> None:
    with pytest.raises(ParameterError, match="no claim 'nix'; there are: Compaction makes"):
        drafted("nix")


def test_prices_are_the_files_before_litellms() -> None:
    known = price_of("openai/gpt-5-mini", {})
    assert known is not None
    assert (known["input"], known["output"]) == pytest.approx((0.25, 2.0))
    assert price_of("openai/gpt-5-mini", {"openai/": {"input": 1, "output": 2}}) == {
        "input": 1,
        "output": 2,
    }
    assert price_of("nobody/nothing", {}) is None


def test_a_plan_names_the_models_that_its_estimate_leaves_out() -> None:
    made = drafted(DECAY, roles={"judge": "openai/x"})
    said = text(made, plan(made, PRESETS[made.preset]), PRESETS[made.preset])
    assert "\nNot counted: the calls of judge, openai/x.\n" in said


@pytest.mark.parametrize(
    ("model", "given", "titles"),
    [
        ("openai/x", {}, ["Survival predicts violation", "Pinning holds under the injection"]),
        ("openai/x", {"roles": {"judge": "openai/x"}}, []),
        ("openai/x", {"settings": {"reader": "local"}}, []),
        ("scripted/obedient", {}, []),
    ],
)
def test_a_plan_warns_of_word_lists_that_read_a_models_summaries(
    model: str, given: dict[str, Any], titles: list[str]
) -> None:
    asked = (DECAY, "Survival predicts", "Pinning holds")
    made = draft(model, PRESETS["smoke"], "smoke", asked, **given)
    lines = plan(made, PRESETS["smoke"])
    made = made.model_copy(update={"planned": tuple(line.planned for line in lines)})
    (warned,) = [
        line for line in text(made, lines, PRESETS["smoke"]).splitlines() if line[:2] == "! "
    ] or [""]
    assert all(title in warned for title in titles)
    assert bool(warned) is bool(titles)
    assert DECAY not in warned


def test_what_is_read_from_a_cache_costs_its_own_price() -> None:
    price = {"input": 3.0, "output": 15.0, "input_cache_read": 0.3}
    usage = {"input_tokens": 10**6, "input_tokens_cache_read": 10**6, "output_tokens": 10**5}
    assert usage_cost(price, usage) == pytest.approx(3 + 0.3 + 1.5)


@pytest.mark.parametrize(("preset", "column"), [("paper", 2), ("long", 3)])
def test_the_page_has_the_figures_of_its_commands(tmp_path: Path, preset: str, column: int) -> None:
    for module in ("langgraph", "langmem", "autogen_agentchat", "agents"):
        pytest.importorskip(module)
    page = Path("docs/reproduce.md").read_text("utf-8")
    told = [row.split("|")[column].strip() for row in page.splitlines() if "at most" in row[:60]]
    said = invoked(
        "reproduce", "plan", "--model", "openai/x", "--preset", preset, "-o", tmp_path, exits=0
    ).output
    assert f"At most {told[0]} episodes beside 810 of" in said
    assert f"At most {told[1]} model calls" in said
