"""Rules by a hand that saw neither the drafter nor a draft, each set drafted once before anything else.

``python -m tests.authoring.test_fresh_rules SET`` prints what becomes of each rule of a set, and plays
those that come to a draft, which takes some minutes.
"""

import sys
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from constraintrot.authoring.checks import of_scenario
from constraintrot.authoring.conversation import offered
from constraintrot.authoring.draft import Draft, draft
from constraintrot.documents import load
from constraintrot.errors import ParameterError
from constraintrot.scenario.schema import Scenario
from tests.authoring.agreeing import agreed, replies
from tests.authoring.test_public_rules import PERMISSIVE, answered, numbers, outcome

# Of each set: what becomes of its rules. On its first run fresh_1 had 56 asked and 4 refused, and
# fresh_2 as here.
FOUND = {"fresh_1": {"asked": 59, "refused": 1}, "fresh_2": {"asked": 57, "refused": 3}}


@cache
def cases(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = load(Path(__file__).with_name(f"{name}.yaml"))
    return found


def reached(case: Mapping[str, Any]) -> Draft | None:
    """Return the draft that every check passes after the author's answers, with nothing edited."""
    made = answered({**case, "replies": replies(case)})
    if made is None or any(
        fault.severe for fault in of_scenario(Scenario.model_validate(made.data))
    ):
        return None
    return made


def proposed(case: Mapping[str, Any]) -> str:
    """Return what one yes to the understood calls comes to; empty where none are offered."""
    try:
        return outcome(case, agreed(case["rule"]))[0] if offered(draft(case["rule"])) else ""
    except ParameterError:
        return ""


@pytest.mark.parametrize("name", FOUND)
def test_no_draft_without_a_question_is_wrong(name: str) -> None:
    found = [outcome(case) for case in cases(name)]
    assert [why for what, why in found if what == "wrong"] == []
    assert Counter(what for what, _ in found) == FOUND[name]


@pytest.mark.parametrize("name", FOUND)
def test_each_rule_has_a_source_under_a_permissive_licence_or_was_written(name: str) -> None:
    assert {one["licence"] or one["source"] for one in cases(name)} <= {
        *PERMISSIVE,
        "written, not collected",
    }


def main(name: str) -> None:
    made = {f"rule_{at}": one for at, case in enumerate(cases(name)) if (one := reached(case))}
    with TemporaryDirectory() as folder:
        played = numbers(made, Path(folder))
    tally = Counter[str]()
    for at, case in enumerate(cases(name)):
        what, why = outcome(case)
        number, yes = played.get(f"rule_{at}"), proposed(case)
        tally.update(
            [what, *([f"one yes: {yes}"] if yes else []), *(["a number"] if number else [])]
        )
        print(f"{what:8} {yes or '-':6} {number or '-'} {case['rule']}  {why}")
    print(dict(tally))


if __name__ == "__main__":
    main(sys.argv[1])
