"""The sentences whose reading is certain by construction, so that their draft needs no question.

The class is closed: a plain command, one known verb, at most one plain object, and one condition
whose values an argument carries unchanged. Each word has its place in the form of its kind. A
sentence with any other word or condition is confirmed by its author.
"""

import re

from constraintrot.authoring.rule import Rule
from constraintrot.authoring.sentence import Sentence
from constraintrot.rule_text.word_groups import ACTIONS, COMMON

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
    """Return whether a sentence has exactly a form of its rule's kind."""
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
