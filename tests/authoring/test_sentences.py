"""Rules as companies write them: what is drafted without a question is drafted right.

``python -m tests.authoring.test_sentences`` prints what becomes of each, and what the drafts come
to that one yes confirms.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import pytest

from constraintrot.authoring.conversation import offered
from constraintrot.authoring.draft import Draft, draft
from constraintrot.documents import load
from constraintrot.errors import ParameterError
from constraintrot.grading.verdict import grade
from constraintrot.scenario.schema import Scenario, Variant
from tests.authoring.agreeing import agreed, severe

Outcome: TypeAlias = Literal["right", "asked", "refused", "wrong"]
SENTENCES: list[dict[str, Any]] = load(Path(__file__).with_name("sentences.yaml"))
HELD_OUT: list[dict[str, Any]] = load(Path(__file__).with_name("held_out.yaml"))
# How a draft may name the argument of what a reading calls by its name in the sentence.
NAMES = {
    "where": ("to", "url"),
    "amount": ("amount_eur", "amount_usd", "amount_gbp"),
    "days": ("age_days", "days"),
    "text": ("body", "text"),
}


def outcome(case: Mapping[str, Any], made: Draft | None = None) -> tuple[Outcome, str]:
    """Return what becomes of a sentence, and why.

    Args:
        case: an entry of ``sentences.yaml``.
        made: its draft; made without an answer where there is none.
    """
    try:
        made = made or draft(case["rule"])
    except ParameterError as error:
        return "refused", str(error)
    if made.open:
        return "asked", "; ".join(made.open)
    variant = Scenario.model_validate(made.data).variant(0)
    for kind, wanted in (("breaks", "violated"), ("keeps", "complied")):
        for given in case[kind]:
            steps = given if isinstance(given, list) else [given]
            calls = _calls(variant, steps, ordered="first" in case)
            found = grade(variant, calls)
            looked_up = steps == ["other"] and found.outcome == "no_call"
            if found.outcome != wanted and not (kind == "keeps" and looked_up):
                return "wrong", f"{given} {kind} it, and is graded {found.outcome}: {found.reason}"
    return "right", ""


def _calls(variant: Variant, given: Sequence[Any], ordered: bool) -> list[dict[str, Any]]:
    truth = variant.violating_call
    other = next((tool for tool in variant.scenario.tools if tool.name != truth.function), None)
    calls: list[dict[str, Any]] = []
    for one in given:
        if isinstance(one, dict) or one in ("then", "act"):
            arguments = _arguments(truth.arguments, {} if isinstance(one, str) else one)
            calls.append({"function": truth.function, "arguments": arguments})
        elif one == "other" and ordered:  # neither the act nor the one that comes first
            calls.append({"function": sorted(variant.lookups)[0], "arguments": {}})
        elif other is not None:  # the one that comes first, or another act
            known = dict.fromkeys(other.required, "Harlow")
            calls.append({"function": other.name, "arguments": known})
    return calls


def _arguments(known: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """A draft's arguments with the values of a reading; the only one besides the client takes any."""
    others = [name for name in known if name != "client"]
    found = {**known}
    for key, value in given.items():
        named = next((name for name in NAMES.get(key, ()) if name in known), key)
        found[others[0] if named not in known and len(others) == 1 == len(given) else named] = value
    return found


def confirmed(case: Mapping[str, Any]) -> Outcome:
    """Return what becomes of a sentence whose author says yes to what was understood."""
    try:
        made = draft(case["rule"])
    except ParameterError:
        return "refused"
    return outcome(case, agreed(case["rule"]) if offered(made) else made)[0]


@pytest.mark.parametrize("case", [*SENTENCES, *HELD_OUT], ids=lambda case: case["rule"])
def test_no_sentence_is_drafted_wrongly(case: Mapping[str, Any]) -> None:
    what, why = outcome(case)
    assert what != "wrong", why


def test_most_come_to_a_right_draft_by_one_yes_and_can_be_measured() -> None:
    assert (len(SENTENCES), len(HELD_OUT)) == (60, 90)
    found, others = (
        {case["rule"]: confirmed(case) for case in cases} for cases in (SENTENCES, HELD_OUT)
    )
    assert "wrong" not in {*found.values(), *others.values()}
    right = [rule for rule, what in found.items() if what == "right"]
    assert len(right) >= 40
    assert [*others.values()].count("right") >= 42
    for rule in right:
        assert severe(agreed(rule).data, 1) == [], rule


if __name__ == "__main__":
    for name, cases in (("sentences", SENTENCES), ("held_out", HELD_OUT)):
        results = [(*outcome(case), case["rule"]) for case in cases]
        for what, why, rule in sorted(results):
            print(f"{what:8} {rule}  {why}")
        print(name, dict(Counter(what for what, _, _ in results)))
        print("with one yes", dict(Counter(map(confirmed, cases))))
