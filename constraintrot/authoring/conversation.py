"""The draft as a conversation: its understanding in plain words, and its questions."""

import re
from collections.abc import Callable, Sequence

from constraintrot.authoring.acting_tool import TOOLS
from constraintrot.authoring.answers import Answers, Question
from constraintrot.authoring.draft import CONFIRM, Draft
from constraintrot.authoring.probes import Probe
from constraintrot.authoring.said import holding

_SIDES = (("violates", "breaks it"), ("clear", "allowed"))
_FIELDS = ("action", "breaks", "keeps")
Ask = Callable[[str], str]


def understanding(made: Draft) -> str:
    """Return the understanding of a draft, in plain words.

    It lists calls that break the rule and calls that keep it, near misses and bounds included,
    each with its reason: about five per side, or two and the questions if something is not sure.
    """
    told = made.understood
    lines = [told.rule, *(_by_calls(made, 2 if made.open else 5) or _so_far(told))]
    if made.open:
        lines += ["Not understood for sure:", *(f"- {doubt}" for doubt in made.open)]
    return "\n".join(lines)


def _by_calls(made: Draft, most: int) -> list[str]:
    if not made.examples:
        return []
    known: dict[str, dict[str, None]] = {}
    for one in made.examples:
        known.setdefault(one.function, {}).update(dict.fromkeys(one.arguments))
    about = " and ".join(f"{name}({', '.join(given)})" for name, given in known.items())
    return [
        f"Understood as a rule on {made.kind or made.understood.argument}, in calls of {about}:",
        *(
            f"  {side:10}{one.call}\n{'':12}{one.kind}: {one.finding.reason}"
            for status, side in _SIDES
            for one in _chosen(made.examples, status, most)
        ),
    ]


def _so_far(told: Answers) -> list[str]:
    """Return lines with the understood values, in the words of a request."""
    lines = [
        f"  {side:10}{told.says.replace('{value}', str(value))}"
        for values, (_, side) in zip((told.breaks, told.keeps), _SIDES, strict=True)
        for value in values[:2]
    ]
    return ["Understood so far:", *lines] if lines else []


def _chosen(among: Sequence[Probe], status: str, most: int) -> list[Probe]:
    """Return ``most`` calls of one side, or one per changed argument if that is more."""
    found = [one for one in among if one.finding.status == status]
    abouts = [one.about for one in found]
    kinds = [(one.kind, one.about) for one in found]
    again = [(one in abouts[:at], kinds[at] in kinds[:at]) for at, one in enumerate(abouts)]
    return [found[at] for at in sorted(range(len(found)), key=again.__getitem__)][
        : max(most, len(set(abouts)))
    ]


def offered(made: Draft) -> bool:
    """Return whether one yes may confirm a draft: nothing but its confirmation and fields are open."""
    asked_for = [one.partition(": ")[0] for one in made.open]
    return bool(made.examples) and CONFIRM in asked_for and {*asked_for} <= {CONFIRM, *_FIELDS}


def asked(made: Draft, ask: Ask) -> Answers | None:
    """Ask the author whether a draft is right; if not, or if there is none, ask for examples.

    ``ask`` puts a question, and returns the answer, which may be empty.
    """
    if any(one.startswith(TOOLS) for one in made.open):
        return None
    given = made.understood.model_copy(deep=True)
    known = bool(made.examples or given.first or (given.breaks and given.keeps))
    questions = given.asked
    doubted = [one.question for one in questions if not one.closed]
    if known and any(one.partition(": ")[0] not in _FIELDS for one in doubted):
        # With a question open the reading is a part of the rule, and a part may say the opposite.
        known = (
            offered(made)
            and Question(question="", answer=ask("Is that the whole rule? [y/N]")).closed
        )
        if not known:
            given = Answers(rule=given.rule, action=given.action, anew=True)
    if not known:
        given.first = ask(
            "Does something have to be done first? From its verb on, as: ask the user (empty: no)"
        )
    if not (given.action and known):
        default = f" (empty: {given.action})" if given.action else ""
        asked_for = f"What do requests ask for? From its verb on, as: delete mail{default}"
        given.action = ask(asked_for) or given.action
    if not (known or given.first):
        given = _values(given, ask)
    if not (given.action and (known or given.first or (given.breaks and given.keeps))):
        return None
    given.asked = [Question(question=one.question, answer="yes") for one in questions]
    return given


def _values(given: Answers, ask: Ask) -> Answers:
    """Ask for a check of words or of whole values, and for examples."""
    words = _listed(
        ask("Words that break the rule wherever they stand, with ; between (empty: none)")
    )
    if words:
        given.violation = holding(words)
        given.argument, given.says = "body", 'the text is "{value}"'
    what = "Texts" if words else "Values"
    given.breaks = list(
        _listed(ask(f"{what} with which a call breaks it, two or more, with ; between"))
    )
    given.keeps = list(_listed(ask(f"{what} with which it keeps the rule, one or more")))
    if not words:
        # Without it a request does not show that it breaks the rule.
        said = ask("How does a request say such a value? As: it goes to {value}"
                   " (empty: the value is {value})")  # fmt: skip
        given.says = said if not said or "{value}" in said else f"{said} {{value}}"
    return given


def _listed(text: str) -> list[str]:
    # Code may hold ; without a blank after it.
    return [one.strip() for one in re.split(r";\s+", text) if one.strip()]
