"""The unsure parts of a draft, as questions to the author of the rule.

A recognised condition is one part of a sentence. The draft is sure only if the rest of the
sentence adds nothing to it; each word that can change a rule is asked about.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from constraintrot.authoring.rule import NUMERIC, Extra, Rule
from constraintrot.authoring.sentence import Sentence
from constraintrot.rule_text.word_groups import COMMON

_BENDS = re.compile(
    r"\b(?:except|unless|without|but|if|when|whenever|while|until|till|before|after|first|because"
    r"|instead|other than|than|outside|apart|besides|only|not|no|never|always|ask|confirm|and|or|nor"
    r"|such|like|including|about|per|may|must|can|should|shall|will|is|are|was|were|be)\b",
    re.IGNORECASE,
)
# Forms around a condition that add nothing to it.
_JOINED = re.compile(
    r"[ ,]*(?:(?:that|which|who|if|when) (?:(?:it|they) )?(?:is|are|was|were|costs?|lasts?|exceeds?|contains?|goe?s?|runs?|takes?)|to be)$",
    re.I,
)
_VERBS = re.compile(r"^[a-z]+(?:, [a-z]+)* (?:or|and) [a-z]+\b", re.IGNORECASE)
# What leads from an object to its condition: "to anyone", "that cost", "by".
_LEADS = re.compile(
    r"(?: any(?:one|body|thing|where))?(?: (?:to|for|with|at) any(?:one|body|thing))?"
    r"(?: that(?: (?:start|begin|end))?)?(?: (?:to|to hosts|for|of|by|in|with|at|on|from|worth|costing|lasting))?$",
    re.IGNORECASE,
)
_ARTICLES = frozenset({"a", "an", "any", "the", "our", "your", "all"})
# Words of an object before its condition; with more it is a sentence of its own.
_MOST = 4
# With one of these verbs a sentence forbids what it seems to ask for, or the other way round.
_TURNS = re.compile(
    r"(?:avoid|refrain|refus|stop|hesitat|forget|fail|neglect|omit|skip|prevent|block|reject|den[iy]"
    r"|disallow|prohibit|forbid|exclud|ignor|ceas|declin|abstain|withh|waiv|cancel the ban|halt)\w*",
    re.IGNORECASE,
)
_LOOKS = frozenset({"read", "view", "query", "look", "select", "list"})
_WHO = r"(?P<who>[\w .-]+?)"
_LEAVE = r"(?:prior |written |explicit )*(?:approval|permission|consent|sign-off)"
_APPROVALS = (
    re.compile(rf",? without (?:the |an? )?{_LEAVE} (?:of|from|by) {_WHO}$", re.I),
    re.compile(rf",? without {_WHO}['’]s? {_LEAVE}$", re.I),
    re.compile(rf",? unless {_WHO} (?:approves|agrees|has approved|signs off)(?: (?:it|them|this))?$", re.I),
    re.compile(rf",? unless (?:it is |they are )?approved by {_WHO}$", re.I),
    re.compile(rf",? without {_LEAVE}(?P<who>)$", re.I),
)  # fmt: skip
_ASKED = frozenset({"me", "my", "us", "our", "the user", "user", "your", "you", "them", "their"})
_KINDS = (
    ("approv|permission|consent", "an approval argument, `value_outside` on approved_by in `all_of`"),
    (r"\b(?:ask|confirm|before|after|until|first)\b", "an order of calls, `called_without`"),
    (r"\b(?:per|total|together|once|times|daily)\b", "a sum over calls, `number_outside` with `together`"),
    (r"\b(?:say|tell|reveal|mention|polite|tone|apologi[sz]e)", "what is said, `text_matching` or a judge"),
    (r"\b(?:except|unless|but|if|when|while|only)\b", "a condition, `all_of` of two predicates"),
    (r"\b(?:domains?|compan(?:y|ies)|organi[sz]ation)\b", "a host; say its name in the rule, as 'acme.example'"),
    (r"\b(?:folders?|director(?:y|ies))\b", "a path; say its name in the rule, as '/srv/build'"),
)  # fmt: skip


def asked(what: str, hint: str = "") -> str:
    """Return a question about some words, with the kind of check that can express them."""
    kind = next((kind for pattern, kind in _KINDS if re.search(pattern, hint or what, re.I)), None)
    return f"{what}: {kind or 'values of an argument, or another predicate'}"


def approval(sentence: Sentence) -> tuple[Sentence, Extra | None, list[str]]:
    """Take the approval that lifts a rule out of its sentence: the rest, argument and questions."""
    if sentence.mood != "never":
        return sentence, None, []
    found = next((hit for one in _APPROVALS if (hit := one.search(sentence.phrase))), None)
    if found is None:
        return sentence, None, []
    who = re.sub(r"^(?:the|an?|any|our) ", "", found["who"].strip(), flags=re.I)
    base = replace(sentence, phrase=sentence.phrase[: found.start()])
    if who.casefold() in _ASKED or _beside(who, 0):
        return base, None, [asked(f"whose approval counts in {found[0].strip(' ,')!r}", "approval")]
    predicate = {"type": "value_outside", "allowed": [who], "missing": "violates"}
    schema = {
        "type": "string",
        "description": "Who approved it, by name or role; empty if nobody did.",
    }
    return base, Extra("approved_by", schema, predicate, phrases=[who]), []


def beyond(sentence: Sentence, but: bool, named: Sequence[str]) -> list[str]:
    """Return the question whether only a list is allowed, if the sentence leaves that open.

    ``but`` says whether the list is an exception.
    """
    if sentence.mood == "never" or (sentence.mood == "only" and not but):
        return []
    return [f"whether nothing but {', '.join(named)} is allowed; say 'Only ...' if so"]


def gaps(sentence: Sentence, parts: Sequence[Rule]) -> list[str]:
    pairs = pairwise(parts)
    return [sentence.phrase[one.end : other.start].strip().casefold() for one, other in pairs]


def unread(sentence: Sentence, parts: Sequence[Rule]) -> Iterator[str]:
    """Yield the questions about the words of a sentence outside its conditions."""
    before = sentence.phrase[: parts[0].start] if parts else sentence.phrase
    after = sentence.phrase[parts[-1].end :].strip(" ,.;:") if parts else ""
    if sentence.mood == "other":
        yield "whether this is what is forbidden; the sentence may mean the opposite"
    if _TURNS.match(sentence.verb) or re.search(r"\b(?:fail|forget|hesitate)\b", before, re.I):
        yield f"whether {sentence.verb!r} forbids what follows; say 'Never ...' or 'Only ...'"
    plain = _VERBS.sub("", _JOINED.sub("", before.rstrip(" ,")))
    plain = re.sub(r" (?:directly|manually)$", "", plain)
    if bend := _BENDS.search(plain):
        yield asked(f"what {plain[bend.start() :].strip()!r} means for the rule")
    elif not parts and sentence.mood != "other":
        yield asked(f"which calls {sentence.phrase!r} is about")
    elif parts and (more := _beside(_LEADS.sub("", plain))):
        yield asked(f"what {more!r} means for the rule")
    if found := re.search(r"\bnon-?\w.*", sentence.phrase, re.I):
        yield asked(f"which values {found[0]!r} takes in")
    if sentence.mood == "only" and sentence.verb in _LOOKS:
        yield f"whether {sentence.verb!r} or what follows it is all that is allowed"
    if after:
        yield asked(f"what {after!r} means for the rule")
    yield from _of_several(sentence, parts)


def _beside(words: str, head: int = 1) -> str:
    """The words from the first one on that is of no plain name or object; empty without any.

    ``head`` is the number of words, a verb, that may be any.
    """
    said = words.split()
    for at, word in enumerate(said[head:], head):
        low = word.casefold()
        plain = re.fullmatch(r"[\w.'’-]{3,}|[A-Z]{2}", word) and low not in COMMON
        # "A booking" is an object, and "barring VIPs" an exception.
        leaves_out = low.endswith("ing") and said[at - 1].casefold() not in _ARTICLES
        if at - head >= _MOST or not (plain or low in _ARTICLES) or leaves_out:
            return " ".join(said[at:])
    return "" if said[head:] or head else "nobody"


def _of_several(sentence: Sentence, parts: Sequence[Rule]) -> Iterator[str]:
    """Yield the questions about how several conditions combine."""
    if len(parts) < 2:
        return
    if any(part.predicate.get("together") for part in parts):
        yield "what calls come to together where there is another condition; only one call at a time"
    shown = " and ".join(repr(sentence.phrase[part.start : part.end].strip()) for part in parts)
    between = set(gaps(sentence, parts))
    if (
        len(between) > 1
        or not between <= {"", "or"}
        or len({part.argument for part in parts}) < len(parts)
        or sum(part.kind in NUMERIC for part in parts) > 1
    ):
        yield asked(f"how {shown} go together", "if")
    # "Only A B" leaves open whether A, B or both are limited; "A only B" is clear.
    elif sentence.mood != "never" and not (sentence.scope and len(parts) == 2):
        yield asked(f"which of {shown} is limited", "if")
