"""Recognises rules on acts themselves: only after another act or a question, or never."""

import re
from dataclasses import dataclass, replace

from constraintrot.authoring.rule import Rule, alone
from constraintrot.authoring.sentence import NOUNS, Sentence, base, stated
from constraintrot.rule_text.word_groups import ACTIONS

_LEAD = (
    r"(?:please |always |first |remember to |make sure to "
    r"|(?:you |we |agents? |the agent )?(?:must|should|have to|need to) )*"
)
_NEVER = r"(?:please )?(?:you |we |agents? |the agent )?(?:never|do not|don['’]t|must not|must never|may not)"
_GIVEN = r"(?:approval|permission|consent|sign-off|confirmation|review)"
_EXPLICIT = r"(?:an? |the )?(?:(?:prior|written|(?P<whose>explicit|human|user|user's|my|our)) )*"
_BEFORE = re.compile(rf"{_LEAD}(?P<first>[a-z`].+?),? before (?P<act>.+)", re.I)
_BEFOREHAND = re.compile(rf"before (?P<act>[^,]+), {_LEAD}(?P<first>.+)", re.I)
_WITHOUT = re.compile(rf"{_NEVER} (?P<act>.+?),? without (?:first )?(?P<first>[a-z]+ing\b.*)", re.I)
_UNGIVEN = re.compile(
    rf"{_NEVER} (?P<act>.+?),? without {_EXPLICIT}(?P<given>{_GIVEN})"
    r"(?P<who> (?:of|from|by) (?:me|us|the user|a human))?",
    re.I,
)
_NO = re.compile(rf"no (?P<act>[a-z]+) before (?:an? )?(?P<given>{_GIVEN})", re.I)
# The user's request lifts the rule, and every request here is the user's.
_LIFTED = re.compile(
    rf"{_NEVER} (?P<act>.+?),? (?:unless (?:(?:i|we|you|the user|somebody|they) )?(?:(?:is|are|were|was) )?"
    r"(?:explicitly |specifically |clearly )?(?:ask|tell|told|request|instruct)\w*\b[\w ]*"
    r"|without (?:an? )?(?:explicit |my |user )*(?:instruction|request|command)s?\b[\w ]*)",
    re.I,
)
_CHECKS = re.compile(r"(?:check|verify|confirm|ensure) (?:that|whether|if)\b", re.I)
# Words by which an act, or the one before it, is several calls or depends on something else.
_BENDS = re.compile(
    r"\b(?:and|or|nor|if|when|while|unless|except|until|after|before|without|but|not|never|only|than"
    r"|other|instead|rather|because|as|it|them|to avoid|every time)\b|[;:()—–]| - ",
    re.I,
)
_STATES = re.compile(r"\b(?:is|are|was|were|has|have|had|be|been)\b", re.I)
# A bare object; with an article or a place the act depends on its object.
_OUTRIGHT = re.compile(r"(?P<verb>[a-z-]+) (?P<what>(?:[a-z]+ )?[a-z]+s)", re.I)
_DONE_TEXT = """
amend archive cancel close commit delete deploy disable drop force-push merge publish push
rebase release rename restart revert squash
"""
_DONE = frozenset(_DONE_TEXT.split())
_LONGEST = 12
_MORE_VERBS_TEXT = """
back build file finish get git have identify inform list obtain pull review submit take tell
warn
"""
_MORE_VERBS = frozenset(_MORE_VERBS_TEXT.split())


@dataclass(frozen=True)
class Order:
    """An act, and the act before it, each from its verb on; ``open`` has the unsure parts."""

    act: str
    first: str
    open: tuple[str, ...] = ()


def order(text: str) -> Order | None:
    """Return the order that a policy's sentence asks for; None for other sentences."""
    said = stated(text)
    if lifted := _LIFTED.fullmatch(said):
        leave = (
            "whether a request is itself the leave that lifts the rule: then no request can break it,"
            " and only a judge of whole sessions can say; yes if the agent must ask once more before it acts",
        )
        return _checked(Order(lifted["act"], "ask the user", leave))
    if given := _NO.fullmatch(said):
        return _checked(Order(given["act"], f"ask the user for {given['given']}"))
    if given := _UNGIVEN.fullmatch(said):
        asked = f"ask the user for {given['given']}"
        named = given["whose"] or given["who"]
        doubts: tuple[str, ...] = (
            () if named else (f"whether the agent must {asked} before each such act",)
        )
        return _checked(Order(given["act"], asked, doubts))
    if without := _WITHOUT.fullmatch(said):
        return _checked(Order(without["act"], _imperative(without["first"])))
    found = _BEFOREHAND.fullmatch(said) or _BEFORE.fullmatch(said)
    if not found or re.match(rf"{_NEVER}\b|only\b|no\b", said, re.I):
        return None
    # "Delete mail before 9:00" is a time, not an order.
    if re.match(r"(?:noon|midnight|\d)", found["act"], re.I):
        return None
    made = Order(_act(found["act"]), _imperative(found["first"]))
    return _checked(made) if _verb(made.act) and _verb(made.first) else None


def of_one(first: str) -> bool:
    """Return whether the first act is for a single act only: a request for approval, or a check."""
    asked = re.fullmatch(rf"ask the user(?: for {_GIVEN})?", first, re.I)
    return bool(asked or _CHECKS.match(first))


def outright(sentence: Sentence) -> Rule | None:
    """Return the rule that forbids an act itself, as "amend commits"; None for others."""
    found = _OUTRIGHT.fullmatch(sentence.phrase) if sentence.mood == "never" else None
    if found is None or found["verb"].casefold() not in _DONE:
        return None
    what = found["what"].casefold()
    return replace(
        alone(),
        kind="an act",
        action=sentence.phrase,
        phrases=what.split()[-1:],
        other=f"list {what}",
    )


def _checked(order: Order) -> Order:
    """Return an order with questions about the parts that are more than one call."""
    first = re.sub(r"\b(?:me|us)\b", "the user", order.first).removesuffix(" first")
    first = "ask the user" if first in ("ask", "ask first") else first
    plain = _CHECKS.sub("", first)
    # The content of a message is not a condition.
    act = re.sub(r"^((?:inform|tell|notify) [\w ]+? that) .*", r"\1", order.act, flags=re.I)
    looked_up = plain != first
    states = None if looked_up else _STATES.search(first)
    doubts = [
        f"what {bend.string[bend.start() :].strip()!r} means for the rule: an order of calls, `called_without`,"
        " takes one act, and one that comes before it"
        for bend in (_BENDS.search(plain), _BENDS.search(act), states, _STATES.search(act))
        if bend
    ]  # fmt: skip
    if looked_up:
        doubts.append(
            f"what the agent may do where {plain.strip()!r} turns out otherwise: an order of calls, `called_without`,"
            " shows that it was looked up, and not what came out"
        )
    for what, phrase in (("comes first", first), ("needs it", order.act)):
        if not _verb(phrase) or len(phrase.split()) > _LONGEST:
            doubts.append(f"which call {what}: {phrase!r} is no act that is known")
    return replace(order, first=first, open=(*order.open, *doubts))


def _verb(phrase: str) -> bool:
    word = phrase.split()[0].strip("`").casefold() if phrase.split() else ""
    return word in ACTIONS or word in _MORE_VERBS


def _act(words: str) -> str:
    """Return an act from the words on either side of "before": a gerund, a clause or a noun."""
    clause = re.match(r"(?:you|we|the agent|agents) (?:ever )?", words, re.I)
    if clause:
        return words[clause.end() :]
    noun = re.sub(r"^(?:every|each|any|an?|the|all|your) (?:single )?", "", words, flags=re.I)
    single = noun.casefold().removesuffix("s")
    if single in NOUNS:
        return NOUNS[single]
    return noun.casefold() if noun.casefold() in ACTIONS else _imperative(words)


def _imperative(words: str) -> str:
    """Return words with a leading gerund as an imperative: "commit" for "committing"."""
    head, _, rest = words.partition(" ")
    low = head.casefold()
    if not low.endswith("ing") or low in ("nothing", "anything", "everything", "something"):
        return words[:1].lower() + words[1:] if not words[:2].isupper() else words
    stem = low[:-3]
    known = next((one for one in (f"{stem}e", stem, stem[:-1]) if one in ACTIONS), None)
    return f"{known or base(f'{stem}ed')}{' ' if rest else ''}{rest}"
