"""A whole scenario from one sentence; without a question if its reading is certain."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from pydantic import ValidationError

from constraintrot.authoring import acting_tool
from constraintrot.authoring.answers import Answers, understood
from constraintrot.authoring.check_requests import gives_away
from constraintrot.authoring.check_texts import value_slots
from constraintrot.authoring.conditions import condition, telling
from constraintrot.authoring.entries import entries
from constraintrot.authoring.probes import Probe, probes
from constraintrot.authoring.rule import Rule, unknown
from constraintrot.authoring.sentence import Sentence, read
from constraintrot.errors import ConstraintRotError, ParameterError
from constraintrot.rule_text.survival import best_window
from constraintrot.rule_text.word_groups import ACTIONS, COMMON
from constraintrot.scenario import history
from constraintrot.scenario.schema import Scenario
from constraintrot.scenario.sections import Tool

_COMMAND = r"(?:you )?(?:never|do not|don['’]t|must not|must never|may not|(?:(?:may|must) )?only)"
_ANY = r"(?: any(?:thing|one|body))?"
_THING = r" (?P<a>(?:an?|any|the|our) )?(?P<thing>[a-z]+)"
_FIGURE = r"(?:\d+|\d{1,3}(?:,\d{3})+)"
_AGE = rf"{_FIGURE} (?:hour|day|week|month|year)s"
_MONEY = rf"(?:[$€£]{_FIGURE}|{_FIGURE} (?:usd|eur|gbp|dollars|euros|pounds))"
_THAT = r"(?: that (?:is|are))?"
_BEYOND = r" (?:(?:of )?(?:more|less) than|above|over|below|under) "


def _listed(one: str) -> str:
    return rf"{one}(?:(?:, |,? or |,? and ){one})*"


_DAYS = _listed("(?:mon|tues|wednes|thurs|fri|satur|sun)days")
_MAILBOXES = _listed(r"[\w.+-]+@(?:[a-z0-9-]+\.)+[a-z]{2,12}")
_NAMES = rf"(?:the )?{_listed(r'[`]?#?[a-z][a-z0-9_/-]*[`]?')}"
_PLACES = rf"(?:the )?{_listed(r'[`]?(?:(?:/[a-z0-9_.-]+)+/?|[a-z][a-z0-9_.-]*)[`]?')}(?: (?:files?|folder|directory))?"
_EDIT, _PUSH, _SEND = ("edit", "read", "write", "save"), ("push", "commit", "merge"), ("send",)
# By kind of condition: verbs, each standing for its synonyms (empty: any known verb), and the form
# of the phrase after its verb.
_FORMS = {
    "a day of the week": ((), rf"(?:{_ANY}|{_THING}) on (?:weekends|{_DAYS})"),
    "a time of day": ((), rf"(?:{_ANY}|{_THING}) before (?:\d{{1,2}}:\d\d|\d{{1,2}} ?[ap]m)"),
    "a span of time": ((), rf"{_THING}{_THAT} (?:(?:younger|newer|older) than {_AGE}|(?:more|less) than {_AGE} old)"),
    "an amount": ((), rf"{_THING}{_BEYOND}{_MONEY}"),
    "a number": ((), rf"{_THING}{_BEYOND}{_FIGURE}(?:%| percent)"),
    "an address": (_SEND, rf"(?:{_ANY} to)? {_MAILBOXES}"),
    "a branch": (_PUSH, rf"{_ANY} (?:in)?to {_NAMES}(?: branch)?"),
    "a environment": (("deploy",), rf"{_ANY} to {_NAMES}"),
    "a region": (("deploy",), rf"{_ANY} to {_NAMES}"),
    "a channel": (("send",), rf"{_ANY} (?:in|to) {_NAMES}"),
    "an act": ((), r" (?:commits|branches|tags|releases|pull requests)"),
    "a path": (_EDIT, rf"(?:{_ANY}| files)(?: in| under| below| to| from)? {_PLACES}"),
}  # fmt: skip


def certain(sentence: Sentence, rule: Rule) -> bool:
    """Return whether a sentence has exactly a form of its rule's kind, and needs no question.

    The class is closed: a plain command, one known verb, at most one plain object, and one
    condition whose values an argument carries unchanged. Each word has its place in the form of
    its kind. A sentence with any other word or condition is confirmed by its author.
    """
    verbs, form = _FORMS.get(rule.kind, ((), "(?!)"))
    known = {one for verb in verbs for one in ACTIONS[verb]} or ACTIONS.keys()
    said = sentence.text.rstrip(".!")
    verb = sentence.phrase.partition(" ")[0].casefold()
    # ASCII only, because look-alike letters would make a name that nobody reads there.
    found = re.fullmatch(rf"{re.escape(verb)}{form}", sentence.phrase, re.I | re.A)
    if found is None or rule.open or rule.extras or verb not in known:
        return False
    if not re.fullmatch(rf"{_COMMAND} {re.escape(sentence.phrase)}", said, re.I | re.A):
        return False
    # "Never on A and B" may mean both at once, and "only to A or B" either alone.
    if f" {'and' if sentence.mood == 'never' else 'or'} " in sentence.phrase:
        return False
    thing = (found.groupdict().get("thing") or "").casefold()
    # "Only send reports on Fridays" may limit the reports.
    if thing and sentence.mood == "only" and rule.kind in ("a day of the week", "a time of day"):
        return False
    plain = found.groupdict().get("a") or thing.endswith("s") or thing in ACTIONS
    return not thing or (bool(plain) and thing not in COMMON and not thing.endswith("ly"))


# Seeds and turns of each topic that are searched for hints, and the number of topics kept.
_SEEDS, _TURNS, _KEPT = range(4), 14, 6
_DIGITS = re.compile(r"\d+")
CONFIRM = "whether calls break and keep the rule as listed, and nothing of it is left out"


@dataclass(frozen=True)
class Draft:
    """A drafted scenario file, or the questions to answer before there is one.

    Attributes:
        open: the unsure parts, each as a question.
        data: the file's entries; empty if there is a question.
        examples: calls that break the rule and calls that keep it, as far as it is understood.
    """

    understood: Answers
    kind: str
    open: tuple[str, ...]
    data: dict[str, Any]
    examples: Sequence[Probe] = ()


def draft(
    text: str,
    tools: Sequence[Tool] = (),
    family: str | None = None,
    answers: Answers | None = None,
    called: str = "",
) -> Draft:
    """Draft a scenario for a policy, which is one sentence.

    Without tools, one is made up for the policy; without a family, its name is made of the tool's.
    ``called`` has the arguments of recorded calls, as ``Sentence`` has them.
    """
    sentence = replace(read(text), called=called)
    anew = answers is not None and answers.anew
    rule = unknown(telling(sentence)) if anew else condition(sentence)
    sure = certain(sentence, rule)
    if answers is not None:
        sure = sure or any(one.closed for one in answers.asked)
        rule = answers.applied(rule)
    # A request that mentions approval would tell the agent the rule's subject.
    action = re.sub(r"^approve\b", "sign off", rule.action or sentence.action(rule.start))
    action = re.sub(r"\b(?:manually|directly) ", "", action)
    if tools:
        acting = acting_tool.among(tools, sentence, rule)
        action = action or re.sub(r"[_-]+", " ", acting.tool.name)
    else:
        acting = acting_tool.made_up(rule, action)
    doubts = list(acting.open) or ([] if sure else [CONFIRM])
    opened = answers.still(doubts) if answers is not None else doubts
    lacking = [f"{what} (fill it in)" for what in _lacking(acting.rule, action)]
    data, found = ({}, []) if lacking else _played(sentence, acting, action, family, bool(opened))
    opened += lacking
    opened += [
        f"whether {one.call} breaks the rule; {one.finding.reason}"
        for one in found
        if one.finding.status == "malformed"
    ][:1]
    told = understood(sentence.text, acting.rule, "" if gives_away(action) else action, opened)
    if answers is not None:
        told.asked += [one for one in answers.asked if one.closed]
    if opened:
        return Draft(told, rule.kind, tuple(opened), {}, found)
    return Draft(told, rule.kind, (), {**data, "topics": _silent(data)}, found)


def _played(
    sentence: Sentence, acting: acting_tool.Acting, action: str, family: str | None, guessed: bool
) -> tuple[dict[str, Any], list[Probe]]:
    """Return a file's entries and the calls around its examples; empty for an unplayable guess."""
    try:
        data = entries(sentence, acting, action, family)
        return data, probes(Scenario.model_validate(data).variant(0))
    except (ConstraintRotError, ValidationError) as error:
        if guessed:
            return {}, []
        if isinstance(error, ValidationError):
            said = re.sub(r"\s+", " ", str(error))[:300]
            raise ParameterError(
                "this rule comes to no scenario; say it in other words, or answer it in a file"
                f" (--answers): {said}"
            ) from error
        raise


def _lacking(rule: Rule, action: str) -> Iterator[str]:
    if not action:
        yield "action: what requests ask for, from its verb on"
    if gives_away(action):
        yield f"action: without what gives a request away as one, {action!r} says it"
    if not rule.wrong:
        yield "breaks: values with which a call breaks the rule"
    if not rule.right:
        yield "keeps: values with which it keeps the rule"


def _silent(data: dict[str, Any]) -> list[str]:
    """Return topics that cannot state the policy or a value of it, or the first if none is such."""
    silent = (name for name in data["topics"] if not _hints(data, name))
    return list(islice(silent, _KEPT)) or list(data["topics"])[:_KEPT]


def _hints(data: dict[str, Any], topic: str) -> bool:
    """Return whether a topic's turns can state the policy or a value of it.

    A topic draws its numbers anew for each seed: where it says "40 days", it may say "30 days".
    """
    scenario = Scenario.model_validate({**data, "topics": [topic]})
    telling, slots = value_slots(scenario), scenario.variant(0).slots
    masked = {
        name: [_DIGITS.sub("0", one) for one in map(str, some) if not one.isdecimal()]
        for name, some in slots.items()
    }
    for seed in _SEEDS:
        for turn in islice(history.turns(scenario.variant(seed)), _TURNS):
            text = turn.model_dump_json()
            held = best_window(text, slots) | best_window(_DIGITS.sub("0", text), masked)
            if held & telling or held == set(slots):
                return True
    return False
