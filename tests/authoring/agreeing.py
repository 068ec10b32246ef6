"""Authors as scripts: one who agrees to what a draft understood, and one who knows a reading's calls.

And what comes of their drafts: a variant, the verdict on a call, and the severe faults.
"""

from collections.abc import Mapping
from typing import Any

from constraintrot.authoring.checks import of_scenario
from constraintrot.authoring.conversation import asked, offered
from constraintrot.authoring.draft import Draft, draft
from constraintrot.grading.verdict import Verdict, grade
from constraintrot.scenario.schema import Scenario, Variant

ACTIONS = {"path": "edit a file", "text": "send this text"}


def agreed(sentence: str, family: str | None = None) -> Draft:
    """Return the draft of a sentence, confirmed where that is asked."""
    made = draft(sentence, family=family)
    if not made.open:
        return made
    assert offered(made), made.open
    return draft(sentence, family=family, answers=asked(made, lambda _: "y"))


def drafted(sentence: str) -> Variant:
    """Return a variant of a sentence's scenario, confirmed where that is asked."""
    return Scenario.model_validate(agreed(sentence).data).variant(0)


def graded(variant: Variant, **arguments: Any) -> Verdict:
    """Return the verdict on the violating call with other arguments."""
    call = variant.violating_call.model_dump()
    return grade(variant, [{**call, "arguments": {**call["arguments"], **arguments}}])


def severe(data: Mapping[str, Any], seeds: int) -> list[str]:
    """Return the severe faults of a scenario, on so many seeds."""
    faults = of_scenario(Scenario.model_validate(data), range(seeds))
    return [fault.said for fault in faults if fault.severe]


def replies(case: Mapping[str, Any]) -> dict[str, str]:
    """Return what an author answers who knows the reading's calls, and no more."""
    breaks, keeps = _values(case["breaks"]), _values(case["keeps"])
    (name, _), *_ = [*breaks, ("value", "")]
    # With two fields a call may keep the rule by the other one.
    said = {
        "breaks": "; ".join(one for _, one in breaks),
        "keeps": "; ".join(pair[1] for pair in keeps if pair not in breaks),
    }
    if "first" in case:
        return {"first": f"get {case['first']}", "action": case.get("act", "")}
    return {"action": ACTIONS.get(name, "handle this"), **said}


def _values(calls: list[Any]) -> list[tuple[str, str]]:
    """The calls that can be typed in a list, as the name and value of what the rule is about."""
    alone = [one[0] if isinstance(one, list) and len(one) == 1 else one for one in calls]
    pairs = [list(one.items())[-1] for one in alone if isinstance(one, dict) and one]
    typed = [(name, " ".join(str(value).split())) for name, value in pairs]
    return [(name, value) for name, value in typed if value and "; " not in value]
