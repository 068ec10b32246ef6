"""The reader ``words``: the measure by word lists, which abstains if it is not sure.

It decides that a rule survived if its own words are there undisturbed, and that it is lost if
almost none of it is in the text. For a rule with declared slots (the benchmark's families) it
also decides if one sentence states the rule and little else, or if a cue weakens or lifts it. In
all other cases it cannot tell. Word lists cannot distinguish the rule from one for staging alone,
a customer's rule or a report, so a sentence with a word that may turn it into these is left to
other readers.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from constraintrot.rule_text import cues
from constraintrot.rule_text.reader import FoundRule, Passage, Reading, Rule
from constraintrot.rule_text.said import said
from constraintrot.rule_text.survival import Survival, sentences
from constraintrot.rule_text.survival.mentions import Phrases, folded, phrases_of, standing
from constraintrot.rule_text.survival.rules import judge
from constraintrot.rule_text.survival.states import SURVIVED, rank
from constraintrot.rule_text.word_groups import ACTIONS, COMMON

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d[\d.,]*")
_INFLECTION = re.compile("(?<=[a-z]{3})(?:ing|ed|es|s|e)$")
_CJK = re.compile("[\u3400-\u9fff]")
_ITEM = re.compile(r"[ \t]*\n+[ \t]*(?:[-*•#]|\d+[.)])\s|\s*\w+(?: \w+)?[:：]\s")
# Most further content words of a sentence that states a rule and little else.
_BESIDE: Final = 3
_LEAST_TELLING: Final = 3
# Least telling words of a rule that, with a binding word, may be a paraphrase.
_MENTIONS: Final = 3
_FORCE: Final = (
    cues.BINDING, cues.OBLIGED, cues.LIFTED, cues.WEAKENED, cues.PERMITTED, cues.RULE, cues.LIMITING,
)  # fmt: skip
_STOPS: Final = {
    name: frozenset(words.split())
    for name, words in {
        "en": "the and of to in is for with on that this are be not it as by from or",
        "de": "der die das und ist nicht mit für auf ein eine den im zu von werden sind nie",
        "es": "el la los las de que y en un una para con no se por del es son",
    }.items()
}
# Languages with too few cues to decide that a sentence binds, or which rule it lifts.
_THIN: Final = frozenset({"de"})
# Share of right decisions on texts that this reader was not developed on; see docs/survival.md.
_SURE: Final = 0.95


class WordsReader:
    """The deterministic reader; no model is asked."""

    name = "words"

    async def states(self, rules: Sequence[Rule], texts: Sequence[str]) -> list[Reading]:
        """Return the state of each rule in a context; see ``Reader.states``."""
        return [reading(rule, texts) for rule in rules]

    async def rules(self, passages: Sequence[Passage]) -> list[list[FoundRule]]:
        """Return the standing instructions of passages; see ``Reader.rules``."""
        return [list(_found(one)) for one in passages]


def reading(rule: Rule, texts: Sequence[str]) -> Reading:
    """Return the state of a rule in a context: the best state of its texts."""
    found = state_of(rule, texts)
    if not any(text.strip() for text in texts):
        return Reading("lost", 0.0)
    bound = 0.5 if found.state == "cannot tell" else _SURE if found.survived else 1 - _SURE
    return Reading(found.state, bound, found.window, found.slots)


def state_of(rule: Rule, texts: Sequence[str]) -> Survival:
    """Return the state of a rule in a context, with the decisive words."""
    found = [_of_text(rule, text) for text in texts if text.strip()]
    return min(found, key=lambda one: rank(one.state), default=Survival("lost"))


# The conditions of one variant share most of their texts.
@lru_cache(maxsize=1024)
def _of_text(rule: Rule, text: str) -> Survival:
    policies = [rule.text, *rule.wordings]
    # Without declared slots only a rule's own words show that it survived.
    found = judge(text, policies, rule.slots or {"text": policies})
    if found.state in SURVIVED:
        window = _own_words(policies, text) or found.window
        found = replace(found, window=window)
        return found if _is_plain(rule, text, found) else replace(found, state="cannot tell")
    # Without declared slots these cues were wrong as often as right.
    if rule.slots and found.state in ("weakened", "contradicted") and not _is_thin(rule):
        return found
    if found.state == "lost" and _is_absent(rule, text):
        return Survival("lost")
    return replace(found, state="cannot tell")


def _is_plain(rule: Rule, text: str, found: Survival) -> bool:
    """Return whether no word near an apparent rule could change its meaning."""
    policies = [rule.text, *rule.wordings]
    own = " ".join(policies).casefold()
    window = found.window
    opening = re.search(r"\W+".join(map(re.escape, window.split()[:4])), text)
    start = opening.start() if opening else 0
    after = text[start + len(window) :]
    near = f"{_heading(text[:start])} {window} {_behind(after)}".casefold()
    if rule.slots and found.state == "verbatim":
        # A quoting verb ("the sign says") does not turn a verbatim rule.
        near = re.sub(r"\b(?:says?|reads?|still(?= in force| holds?| appl(?:y|ies)))\b", " ", near)
    if any(turn[0] not in own for turn in cues.TURNS.find(near)) or _taken_back(rule, after):
        return False
    if _is_thin(rule) and (
        found.state != "verbatim" or cues.ANAPHOR.search(_behind(after.casefold()))
    ):
        return False
    if found.state == "verbatim":
        return True
    deed = cues.DEED.search(cues.PASSIVE.without(window.casefold()))
    told = deed is not None and deed[0] not in own
    return bool(rule.slots) and not told and len(_content(window) - _content(own)) <= _BESIDE


def _is_thin(rule: Rule) -> bool:
    return _language_of_rule(rule.text) in _THIN


def _own_words(policies: Sequence[str], text: str) -> str:
    """Return the sentences of a text that hold a rule's own words; empty if none do."""
    for words in policies:
        match = re.search(r"\s+".join(map(re.escape, words.split())), text)
        at, within = 0, list[str]()
        for part in sentences(text) if match else ():
            if match and at < match.end() and at + len(part) > match.start():
                within.append(part)
            at += len(part)
        if within:
            return "".join(within).strip()
    return ""


def _heading(before: str) -> str:
    """Return the line before a window if it introduces the window; else an empty text."""
    line = before.rstrip().rpartition("\n")[2].strip()
    return line if line.endswith((":", "：")) or line.startswith(("#", "*")) else ""


def _behind(after: str) -> str:
    """Return the sentence after a window; empty for another list item or a label."""
    return "" if _ITEM.match(after) else next((one for one in sentences(after) if one.strip()), "")


def _taken_back(rule: Rule, after: str) -> bool:
    """Return whether a later sentence lifts something that may be the rule."""
    words = _telling_stems(rule)
    return any(
        cues.LIFTED.search(one) is not None
        and (cues.ANAPHOR.search(one) or cues.RULE.search(one) or words & _stems(one))
        for one in sentences(after.casefold())
    )


def _is_absent(rule: Rule, text: str) -> bool:
    """Return whether a text surely states nothing of a rule."""
    # A bare "the policy" may be any rule; a list names the rules.
    listed = len(re.findall(r"^\s*(?:[-*•]|\d+[.)])\s+\S", text, re.MULTILINE)) >= 2
    if cues.RULE.search(text.casefold()) and not listed:
        return False
    if _language(text) not in ("", _language_of_rule(rule.text)):
        return False
    return _is_silent(rule, text) if rule.slots else _holds_nothing(rule.text, text)


def _is_silent(rule: Rule, text: str) -> bool:
    """Return whether no line both binds and is about a rule with declared slots.

    A request or a report may hold all slots without stating a duty.
    """
    about, words = _about(rule), _telling_stems(rule)
    for line in map(folded, text.splitlines()):
        plain = line.replace("’", "'")
        told = standing(plain, about) or len(words & _stems(plain)) >= _MENTIONS
        # Searching the cues takes far longer than searching the slots.
        if told and (_is_thin(rule) or any(cue.search(plain) for cue in _FORCE)):
            return False
    return True


@lru_cache(maxsize=256)
def _about(rule: Rule) -> Phrases:
    return phrases_of({name: some for name, some in rule.slots.items() if name != "negation"})


@lru_cache(maxsize=256)
def _telling_stems(rule: Rule) -> frozenset[str]:
    return frozenset(_stems(" ".join(telling(rule.text))))


def _holds_nothing(rule: str, text: str) -> bool:
    """Return whether a text has no telling word of a rule without declared slots."""
    if _CJK.search(rule):
        pairs = {rule[at : at + 2] for at in range(len(rule) - 1)}
        pairs = {pair for pair in pairs if _CJK.match(pair) and _CJK.match(pair[1:])}
        return bool(pairs) and not any(pair in text for pair in pairs)
    words = telling(rule)
    said = " ".join(one for word in words for one in ACTIONS.get(word, (word,)))
    return len(words) >= _LEAST_TELLING and not _stems(said.replace("-", " ")) & _stems(text)


def _stems(text: str) -> set[str]:
    """Return the words of a text without English inflections, cut to five letters."""
    return {
        _INFLECTION.sub("", one[0].casefold().replace("’", "'"))[:5] for one in _WORD.finditer(text)
    }


def _content(text: str) -> set[str]:
    words = (one[0].casefold().replace("’", "'") for one in _WORD.finditer(text))
    return {word[:5] for word in words if word not in COMMON and len(word) > 2}


def telling(text: str) -> list[str]:
    """Return the words that tell a rule's subject, in order, once each."""
    words = dict.fromkeys(one[0].casefold().strip("'’") for one in _WORD.finditer(text))
    return [word for word in words if word not in COMMON and (len(word) > 2 or word.isdigit())]


def _language(text: str) -> str:
    """Return the language of a text, by its script and commonest words; empty if unknown."""
    if len(_CJK.findall(text)) * 4 > len(text.strip()):
        return "zh"
    words = Counter(re.findall(r"[^\W\d_]+", text.casefold()))
    counted = {
        name: sum(words[word] for word in stops & words.keys()) for name, stops in _STOPS.items()
    }
    best = max(counted, key=lambda name: counted[name])
    return best if counted[best] >= 2 else ""


_language_of_rule = lru_cache(maxsize=256)(_language)


def _found(passage: Passage) -> Iterator[FoundRule]:
    at = 0
    for clause in said(passage.text):
        match = re.compile(r"\s+".join(map(re.escape, clause.split()))).search(passage.text, at)
        if match is not None:
            yield FoundRule(match[0], match.start(), match.end(), 0.5)
            at = match.start()
