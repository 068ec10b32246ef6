"""Recognises the conditions of a policy's sentence, and how they combine."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from constraintrot.authoring.doubts import approval, asked, gaps, unread
from constraintrot.authoring.limits import compared
from constraintrot.authoring.names import name
from constraintrot.authoring.orders import Order, order, outright
from constraintrot.authoring.places import host, path
from constraintrot.authoring.rule import Extra, Rule, alone, unknown
from constraintrot.authoring.said import emojis, language, quoted, system_message
from constraintrot.authoring.sentence import Sentence, forms
from constraintrot.authoring.statements import program, statement
from constraintrot.authoring.times import hours, week
from constraintrot.rule_text.word_groups import COMMON
from constraintrot.scenario.template import Value

READERS: tuple[Callable[[Sentence], Rule | None], ...] = (
    program, emojis, system_message, host, quoted, path, compared, hours, week, language, statement,
    name,
)  # fmt: skip
# Words that stand in any text, or in the description of any tool.
_EMPTY_TEXT = """
with your allow that this from into before after every anyone without name names value type
object description reason request client order data text
"""
_EMPTY = _EMPTY_TEXT.split()


def condition(sentence: Sentence) -> Rule:
    """Return the rule of a sentence; its ``open`` lists the unsure parts.

    The sentence is split into disjoint conditions. Text before, between and after them is asked
    about if it can add to the rule.
    """
    if found := order(sentence.text):
        return _ordered(found, sentence)
    base, leave, doubts = approval(sentence)
    parts = _laid_out(base)
    rule = _joined(base, parts) if parts else unknown(telling(base))
    if not parts and leave is None and not doubts and (act := outright(base)):
        return act
    if leave is not None:
        rule = replace(rule, extras=[*rule.extras, leave])
        if rule.predicate.get("together"):
            doubts.append("who approves what calls come to together; only one call at a time")
        doubts += (
            [] if parts else [asked("an approval alone, which no request may mention", "approval")]
        )
    doubts += [*rule.open, *unread(base, parts)]
    return replace(rule, open=list(dict.fromkeys(doubts)))


def _ordered(found: Order, sentence: Sentence) -> Rule:
    """Return the rule of an order: the conditions of its act, and the act that comes first."""
    act = Sentence(found.act, "never", found.act, called=sentence.called)
    parts = _laid_out(act)
    rule = _joined(act, parts) if parts else alone()
    doubts = [*found.open, *rule.open, *(unread(act, parts) if parts else ())]
    if any(part.predicate.get("together") for part in parts):
        doubts.append("what calls come to together in an order of calls; only one call at a time")
    action = rule.action or (act.action(rule.start) if parts else found.act)
    return replace(rule, action=action, first=found.first, open=list(dict.fromkeys(doubts)))


def _laid_out(sentence: Sentence) -> list[Rule]:
    """Return the conditions of a phrase in order; those before "only" limit its scope."""
    if sentence.scope:
        scope, phrase = sentence.scope, sentence.phrase
        within = replace(sentence, mood="never", phrase=phrase[:scope], scope=0)
        limited = replace(sentence, phrase=phrase[scope:], scope=0)
        if where := _laid_out(within):
            return [*where, *(one.moved(scope) for one in _laid_out(limited))]
    found = next((rule for read in READERS if (rule := read(sentence))), None)
    if found is None:
        return []
    before = replace(sentence, phrase=sentence.phrase[: found.start].rstrip(" ,"))
    after = replace(sentence, phrase=sentence.phrase[found.end :])
    behind = [one.moved(found.end) for one in _laid_out(after)]
    return [*_laid_out(before), found, *behind]


def _joined(sentence: Sentence, parts: Sequence[Rule]) -> Rule:
    """Join conditions to one rule: the last one varies, the others keep one value.

    They keep a forbidden value if all conditions must hold, and an allowed one if one is enough.
    """
    *fixed, varied = parts
    either = any(gap == "or" for gap in gaps(sentence, parts))
    given = [part.right[0] if either else part.wrong[0] for part in fixed]
    says = [
        part.says.replace("{value}", str(value)) for part, value in zip(fixed, given, strict=True)
    ]
    extras = [
        Extra(part.argument, part.schema, part.predicate, value, part.phrases)
        for part, value in zip(fixed, given, strict=True)
    ]
    return replace(
        varied,
        start=parts[0].start,
        says=", ".join([*says, varied.says]),
        extras=[*extras, *varied.extras],
        either=either,
        action=varied.action if len(parts) == 1 else "",
        open=[doubt for part in parts for doubt in part.open],
    )


def telling(sentence: Sentence) -> list[Value]:
    """Return up to four words of a phrase that tell its subject."""
    verbs = {*forms(sentence.verb), *_EMPTY}
    words = dict.fromkeys(re.findall(r"[A-Za-z][A-Za-z-]+", sentence.phrase))
    told = [word for word in words if word.casefold() not in verbs]
    rare = [word for word in told if word.casefold() not in COMMON]
    # A short word, as "AI", counts if there is no long one.
    return ([word for word in rare if len(word) > 3] or rare or told)[:4]
