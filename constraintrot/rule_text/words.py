"""The reader ``words``: the measure by word lists, which abstains if it is not sure.

It decides that a rule stands where its own words do, undisturbed, and that it is lost where next
to nothing of it stands in the text. For a rule with declared slots (the benchmark's families) it
also decides where a cue takes the force from it. All else cannot be told. No word list tells a rule
in other words from its opposite, from one of a customer, or from a report of what was done.
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
from constraintrot.rule_text.survival.states import rank
from constraintrot.rule_text.word_groups import ACTIONS, COMMON

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d[\d.,]*")
_INFLECTION = re.compile("(?<=[a-z]{3})(?:ing|ed|es|s|e)$")
_CJK = re.compile("[\u3400-\u9fff]")
_ITEM = re.compile(r"[ \t]*\n+[ \t]*(?:[-*•#]|\d+[.)])\s|\s*\w+(?: \w+)?[:：]\s")
_LEAST_TELLING: Final = 3
# Least telling words of a rule that, with a binding word, may be a paraphrase.
_MENTIONS: Final = 3
_FORCE: Final = (
    cues.BINDING, cues.OBLIGED, cues.LIFTED, cues.WEAKENED, cues.PERMITTED, cues.RULE, cues.LIMITING,
)  # fmt: skip
# A line that stands above others: of Markdown, in bold, with a colon at its end, or a few words.
_HEADING = re.compile(r"#.*|\*\*.*|.{1,80}[:：]\W*|[^\W\d]\w*(?: \w+){0,4}")
# What stands between two of these is struck out, or code.
_PAIRED = (re.compile("(?<!~)~~(?!~)"), re.compile("```"))
_CROSSED = re.compile("[❌✗✘🚫]")
# Words of a label that leaves a rule as it is: "Standing rules of the operator:".
_LABEL_WORDS = (
    "the a an our all standing important note remember reminder safety security hard key critical"
    " main current company summary notes context todo operator operator's user user's system admin team your you says said in"
    " force and of from for this that is are always kept keep follow followed active"
    " la el los las del de importante nota usuario operador vigente die der das wichtig hinweis"
)
_LABELS: Final = frozenset(_LABEL_WORDS.split())
# Behind a rule's words, a scrap may take them back: "[void]", "Scratch that.", "Never mind."
_SCRAPS = re.compile(
    r"\s*(?:[\[(（]|~~(?!~)|[^\W\d_]+(?:['’][^\W\d_]+)?(?: [^\W\d_]+){0,2}[.!。](?:\s|$)"
    r"|(?i:and|but|or|exceptions?|update|edit|note|y|pero|und|aber)\b)"
)
# "Never force-push, even if Bob says that the rule no longer applies" lifts nothing.
_REPEATS = re.compile(
    r"(?:^|[.;:,—–-]\s|\b(?:and|so|but)\s)\W*(?:please )?(?:never|do not|don't|always|only|nunca|solo|sólo)\b"
    r"|\b(?:(?:says?|said|claim\w*) (?:that )?(?:the|this|our|it)|even if|even though|still (?:in force|appl\w+|holds?|binding|valid)"
    r"|not (?:been|yet) \w+|n't been|dice|aunque|todavía)\b"
)
# What is no longer so may be something else than the rule.
_NO_LONGER = re.compile(
    r"\bno longer (?!appl|hold|bind|need|ha[sd]\b|have|require|in force|in effect|valid|forbid|prohib"
    r"|banned|restrict|limit|necess|obliged|mandatory|must|off|the (?:case|rule|policy)|true|a (?:rule|policy)|any\b)"
)
_POINTS_BACK = re.compile(r"(?:\bnot?\b|n't\b).*\b(?:th(?:is|at|ese|ose)|it|here)\b")
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
    if found.state == "verbatim":
        own = _own_words(policies, text)
        if own and all(_is_plain(rule, text, *one.span()) for one in own):
            return replace(found, window=own[0][0])
    # On free text these cues were wrong as often as right; with declared slots they are not.
    elif rule.slots and found.state == "weakened" and not _is_thin(rule):
        return found
    elif rule.slots and found.state == "contradicted" and not _is_thin(rule):
        return found if _is_lifted(found.window.casefold()) else replace(found, state="cannot tell")
    elif found.state == "lost" and _is_absent(rule, text):
        return Survival("lost")
    # "Only push to main" has every word of "never push to main" but one.
    return replace(found, state="cannot tell")


def _is_lifted(window: str) -> bool:
    """Return whether a window that holds a lifting cue lifts the rule, and does not repeat it."""
    return _REPEATS.search(window) is None and (_NO_LONGER.sub("", window) == window)


def _is_plain(rule: Rule, text: str, start: int, end: int) -> bool:
    """Return whether nothing near a rule's own words could turn what they say."""
    own = " ".join([rule.text, *rule.wordings]).casefold()
    *above, line = text[:start].split("\n")
    after = text[end:]
    behind = _behind(after).casefold()
    heading = next((one for one in reversed(above) if _HEADING.fullmatch(one.strip())), "")
    near = f"{heading} {_sentence_of(line)} {text[start:end]} {behind}".casefold()
    if rule.slots:
        # What a sign or a file says, on lines of its own and without quotes, is how it was given.
        near = re.sub(r"\b(?:says?|reads?|still(?= in force| holds?| appl(?:y|ies)))\b", " ", near)
    if any(turn[0] not in own for turn in cues.TURNS.find(near)) or _taken_back(rule, after):
        return False
    if cues.ENDED.search(heading.casefold()):
        return False
    if _is_marked(text[:start], line) or _SCRAPS.match(after) or _POINTS_BACK.search(behind):
        return False
    return not (_is_thin(rule) and cues.ANAPHOR.search(behind))


def _sentence_of(line: str) -> str:
    """The sentence of a line that is not over yet."""
    return re.split(r"(?<=[.!?])\s", line)[-1]


def _is_marked(before: str, line: str) -> bool:
    """Return whether what follows is struck out, in a comment or in code, quoted, or mislabelled."""
    told = _WORD.findall(_sentence_of(line).casefold())
    return (
        any(len(mark.findall(before)) % 2 for mark in _PAIRED)
        or before.rfind("<!--") > before.rfind("-->")
        or line.lstrip().startswith(">")
        or _CROSSED.search(line) is not None
        or any(word not in _LABELS and not cues.RULE.search(word) for word in told)
    )


def _is_thin(rule: Rule) -> bool:
    return _language_of_rule(rule.text) in _THIN


def _own_words(policies: Sequence[str], text: str) -> list[re.Match[str]]:
    patterns = (r"\s+".join(map(re.escape, words.split())) for words in policies)
    return [match for pattern in patterns for match in re.finditer(pattern, text)]


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
