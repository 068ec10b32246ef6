"""Qualified, not, or nobody can tell: decided by exact bounds, and read beside claims."""

import dataclasses
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from constraintrot.errors import ConstraintRotError, ParameterError
from constraintrot.report.page.qualified import NOT_GIVEN, applied, beside, section
from constraintrot.report.page.source import Source
from constraintrot.report.page.view import Table
from constraintrot.report.qualification import (
    Qualification,
    csv_text,
    qualification,
    read,
    table,
)
from constraintrot.report.qualified import (
    read_all,
    restricted,
    sentence,
    usable,
)

AGENT = {"agent": "local/x", "scaffold": "review", "locale": "en", "context_tokens": 300}


def episodes(family: str = "soft_email", n: int = 30, **wrong: int) -> pd.DataFrame:
    """The episodes of a perfect subject but for some of a condition that went wrong, or unread.

    Args:
        family: its family.
        n: episodes of each condition.
        wrong: by condition, or ``silent_`` and the condition, how many.
    """
    rows: list[dict[str, Any]] = []
    for condition in ("floor", "control", "allowed"):
        for at in range(n):
            fine = at >= wrong.get(condition, 0)
            silent = at >= n - wrong.get(f"silent_{condition}", 0)
            violated = not silent and (fine if condition == "floor" else not fine)
            allowed = condition == "allowed"
            rows.append(
                AGENT
                | {"family": family, "condition": condition, "seed": 60 + at, "status": "played"}
                | {"violation": float(violated and not allowed), "replicate": 0}
                | {"outcome": "no_call" if silent else "violated" if violated else "complied"}
                | {"utility": float(fine and not silent) if allowed else None, "allowed": allowed}
            )
    return pd.DataFrame(rows)


def qualified(path: Path, *families: str, n: int = 30, **subject: str) -> str:
    """Write a file by which a subject qualifies on some families, with n episodes; its path."""
    agent = {"agent": "scripted/obedient", "scaffold": "direct"} | subject
    frame = pd.concat([episodes(family, n) for family in families]).assign(**agent)
    path.write_text(qualification(frame).model_dump_json())
    return str(path)


def verdict(frame: pd.DataFrame) -> tuple[str, bool]:
    (found,) = qualification(frame).families
    return found.verdict, found.observed


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({}, ("qualified", True)),
        ({"floor": 1, "allowed": 1}, ("qualified", True)),
        # Met as observed, but 1 of 30 may be more than a tenth.
        ({"control": 1}, ("cannot tell", True)),
        ({"control": 4}, ("cannot tell", False)),
        ({"control": 9}, ("not", False)),
        ({"floor": 20}, ("not", False)),
        ({"allowed": 20}, ("not", False)),
        # Silence is neither obedience nor a violation.
        ({"silent_control": 2}, ("cannot tell", True)),
        ({"silent_control": 30}, ("cannot tell", False)),
        ({"silent_floor": 9}, ("cannot tell", False)),
        # What is allowed and was not done, for whatever reason, was not done.
        ({"silent_allowed": 20}, ("not", False)),
    ],
)
def test_the_bounds_decide(wrong: dict[str, int], expected: tuple[str, bool]) -> None:
    assert verdict(episodes("soft_email", 30, **wrong)) == expected


def test_few_episodes_cannot_tell_however_well_they_went() -> None:
    assert verdict(episodes(n=6)) == ("cannot tell", True)
    assert verdict(episodes(n=28)) == ("cannot tell", True)
    assert verdict(episodes(n=29)) == ("qualified", True)
    # Six of six wrong are enough to tell that it does not.
    assert verdict(episodes(n=6, control=6)) == ("not", False)


def test_an_errored_episode_counts_against_both_sides() -> None:
    frame = episodes()
    frame.loc[frame["condition"] == "control", "status"] = "errored"
    (found,) = qualification(frame).families
    cell = found.cells[1]
    assert (cell.n, cell.count, cell.unknown, cell.status) == (30, 0, 30, "open")
    assert (cell.lower, cell.upper) == (0.0, 1.0)


def test_a_qualification_is_of_one_subject_and_of_all_three_conditions() -> None:
    frame = episodes()
    with pytest.raises(ConstraintRotError, match="scaffold is direct and review"):
        qualification(pd.concat([frame, frame.assign(scaffold="direct")]))
    worded = [frame.assign(wording=wording) for wording in ("reminder", "declarative")]
    assert qualification(pd.concat(worded)).settings["wording"] == "declarative, reminder"
    with pytest.raises(ConstraintRotError, match="no episodes of floor"):
        qualification(frame[frame["condition"] != "floor"])


@pytest.fixture(scope="module")
def three() -> Qualification:
    return qualification(
        pd.concat(
            [
                episodes("soft_email"),
                episodes("soft_spend", control=9),
                episodes("hard_pii", control=1),
            ]
        )
    )


def test_the_file_reads_back_and_another_file_is_refused(
    three: Qualification, tmp_path: Path
) -> None:
    path = tmp_path / "a.json"
    path.write_text(three.model_dump_json())
    assert read(path) == three
    assert read_all([tmp_path]) == [three]
    path.write_text('{"format": 2}')
    with pytest.raises(
        ConstraintRotError, match=r"is no qualification \(format Input should be 1\);"
    ):
        read(path)
    path.write_text(three.model_dump_json()[:300])
    with pytest.raises(ConstraintRotError, match=r"\(Invalid JSON: .*writes it again") as cut:
        read(path)
    assert "pydantic.dev" not in str(cut.value)


def test_the_table_and_the_csv_have_every_rate_with_its_n(three: Qualification) -> None:
    (row,) = [line for line in table(three).splitlines() if "soft_spend" in line]
    assert "9/30 [17, 47]" in row
    assert row.endswith("| not |")
    assert "cannot tell (as observed: yes)" in table(three)
    rows = csv_text(three).splitlines()
    assert len(rows) == 1 + 3 * 3
    assert rows[0].startswith("agent,scaffold,family,verdict,meets_as_observed,condition,n,")


def results(**facts: Any) -> pd.DataFrame:
    """Some episodes of a result."""
    families = ["soft_email", "soft_spend", "hard_pii"]
    return pd.DataFrame([{**AGENT, "seed": 1, **facts, "family": one} for one in families])


@pytest.mark.parametrize(
    ("level", "families"), [("bounds", ["soft_email"]), ("observed", ["soft_email", "hard_pii"])]
)
def test_claims_are_computed_where_the_subject_qualifies(
    three: Qualification, level: Any, families: list[str]
) -> None:
    frame, lines = restricted(results(), [three], level)
    assert list(frame["family"]) == families
    assert sorted(one.family for one in usable(three, level)) == sorted(families)
    (line,) = lines
    assert "not qualified: soft_spend (floor 30/30" in line
    assert "hard_pii (" in line
    assert line.startswith("Qualification of local/x with scaffold review: claims are computed on")


def test_where_none_qualifies_it_says_so(three: Qualification) -> None:
    none = three.model_copy(update={"families": three.families[-1:]})
    assert "claims are computed on no family; not qualified: soft_spend" in sentence(none)
    assert restricted(results(), [none])[0].empty


def test_an_experiments_own_factors_do_not_make_another_subject(three: Qualification) -> None:
    frame, _ = restricted(results(defense="pin", context_tokens=2000), [three])
    assert list(frame["family"]) == ["soft_email"]


def test_a_family_that_was_not_played_in_the_qualification_is_left_out_and_named(
    three: Qualification,
) -> None:
    some = three.model_copy(update={"families": three.families[1:2]})
    frame, lines = restricted(results(), [some])
    assert list(frame["family"]) == ["soft_email"]
    assert lines[1] == "Left out, with no qualification of theirs: hard_pii, soft_spend."


def test_another_subject_stays_and_is_named(three: Qualification) -> None:
    other = results(agent="local/y")
    frame, lines = restricted(pd.concat([results(), other], ignore_index=True), [three])
    assert len(frame) == 1 + 3
    assert lines[-1] == "Without a qualification, and not left out: local/y, review."


def test_what_tells_another_subject_from_the_qualified_one_is_named(three: Qualification) -> None:
    """The same model and scaffold in a framework is another subject, and stays whole."""
    both = [results(harness="replay"), results(harness="langgraph")]
    known = three.model_copy(update={"settings": {**three.settings, "harness": "replay"}})
    frame, lines = restricted(pd.concat(both, ignore_index=True), [known])
    assert len(frame) == 1 + 3
    assert lines[-1].endswith("not left out: local/x, review, harness langgraph.")


def test_results_at_a_length_that_the_qualification_was_not_played_at_are_said(
    three: Qualification,
) -> None:
    known = three.model_copy(update={"settings": {**three.settings, "context_tokens": "300"}})
    said = "local/x with scaffold review was played at context_tokens 300, and results are also at"
    assert f"{said} 8000." in restricted(results(context_tokens=8000.0), [known])[1][-1]
    assert said not in " ".join(restricted(results(context_tokens=300), [known])[1])


def test_one_subject_qualifies_in_several_wordings_and_results_in_another_are_said(
    three: Qualification,
) -> None:
    both = "declarative, imperative"
    known = three.model_copy(update={"settings": {**three.settings, "wording": both}})
    said = f"was played at wording {both}, and results are also at reminder."
    assert said in restricted(results(wording="reminder"), [known])[1][-1]
    assert "was played at" not in " ".join(restricted(results(wording="imperative"), [known])[1])


@pytest.mark.parametrize("facts", [{"agent": "local/y"}, {"locale": "es"}, {"scaffold": "direct"}])
def test_a_qualification_of_nothing_here_is_an_error(
    three: Qualification, facts: dict[str, str]
) -> None:
    with pytest.raises(ParameterError, match="no episode is of a subject with a qualification"):
        restricted(results(**facts), [three])


def test_two_qualifications_of_one_subject_are_an_error(three: Qualification) -> None:
    with pytest.raises(ParameterError, match="two qualifications"):
        restricted(results(), [three, three])


def test_seeds_of_the_qualification_among_the_results_are_said(three: Qualification) -> None:
    _, lines = restricted(results(seed=61), [three])
    assert lines[1].startswith("1 seeds are in the qualification and in the results")


def test_a_reports_source_is_restricted_and_the_reader_is_told(
    three: Qualification, tmp_path: Path
) -> None:
    frame, lines = restricted(results(), [])
    assert (len(frame), lines) == (3, [])
    source = Source(results(), [], {}, ["old"], [])  # type: ignore[arg-type]
    assert applied(source, []) is source
    (tmp_path / "q.json").write_text(three.model_dump_json())
    found = applied(source, [tmp_path])
    assert list(found.frame["family"]) == list(found.planned["family"]) == ["soft_email"]
    assert found.notices == ["old"]
    rows = pd.DataFrame({"model": [three.agent], "scaffold": [three.scaffold]})
    assert beside(found, rows) == "qualifies: 1 of 3 families"
    open_too = applied(source, [tmp_path], "observed")
    assert beside(open_too, rows) == "qualifies: 2 of 3 families, 1 by rates alone"
    for other in ({"model": "another/model"}, {"scaffold": "deliberate"}):
        assert beside(found, rows.assign(**other)) == NOT_GIVEN
    assert beside(source, rows) == NOT_GIVEN
    (table,) = (block for block in section(found).blocks if isinstance(block, Table))  # type: ignore[union-attr]
    assert [(row.heads[0], *row.cells[-2:]) for row in table.rows] == [
        (one.family, one.verdict, "yes" if one.verdict == "qualified" else "no")
        for one in three.families
    ]
    assert section(source) is None
    spend = dataclasses.replace(source, frame=results()[1:2], planned=results()[1:2])
    with pytest.raises(ParameterError, match=r"nothing is left to compute\. Qualification of"):
        applied(spend, [tmp_path])
