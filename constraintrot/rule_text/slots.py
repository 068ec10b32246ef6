"""The parts of a rule that a text must hold: its values, its action and its object.

The benchmark's families say this themselves (``slots`` of a scenario file); for a rule
that somebody typed it is derived from its words. Values (numbers, paths, names, code)
each have to stand; of what is done and to what, any usual word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from constraintrot.rule_text.survival.mentions import Value
from constraintrot.rule_text.word_groups import ACTIONS, COMMON, THINGS, inflected

# A value by its form: code, addresses, paths, flags, file names, names with capitals within.
_VALUES = re.compile(
    r"`(?P<code>[^`\n]{1,80})`"
    r"|(?P<address>(?<![\w.+-])[\w.+-]*@?[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|test|example|internal|local|eu|de))\b"
    r"|(?P<path>(?<![\w/])(?:[\w.@~-]+/)+[\w.*-]*)"
    r"|(?P<flag>(?<!\w)--?[a-z][\w-]+)"
    r"|(?P<file>\b[\w-]+\.(?:py|ts|tsx|js|jsx|md|json|ya?ml|toml|lock|env|sql|txt|csv|sh|go|rs|java|kt|cfg|ini|proto))\b"
    r"|(?P<env>(?<![\w.])\.env\b)"
    r"|(?P<numbered>\b[A-Za-z]+(?:-[A-Za-z]+)*-\d+\w*\b)"
    r"|(?P<name>\b(?:[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|[a-zA-Z]+_[\w]+|[A-Za-z]+\d[\w.]*)\b)"
)
_NUMBER = re.compile(r"(?<![\w.,/-])[$€£]?(\d{1,3}(?:[, ]\d{3})+|\d+(?:\.\d+)?)(?![\w/]|[.,]\d)")
# What a number counts says nothing without it.
_COUNTED = re.compile(
    _NUMBER.pattern
    + r"(?:[ -]?(?:euros?|eur|dollars?|usd|pounds?|days?|hours?|minutes?|seconds?|weeks?|months?"
    r"|years?|percent|%|[km]b|lines?|characters?)\b)?",
    re.IGNORECASE,
)
_NAMED = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,})*\b")
_WORD = re.compile(r"[a-z\u00df-\u024f][a-z\u00df-\u024f'-]*")
_CJK_RUN = re.compile("[\u3400-\u9fff]{2,}")
_NUMBER_WORDS = {
    2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine",
    10: "ten", 12: "twelve", 14: "fourteen", 15: "fifteen", 20: "twenty", 24: "twenty-four",
    30: "thirty", 50: "fifty", 60: "sixty", 90: "ninety", 100: "a hundred", 1000: "a thousand",
}  # fmt: skip
# More values than these make a rule that nothing but its own text restates.
_MOST_VALUES = 3
# "Never use X" is restated as "X is banned", so what is done says nothing there.
_WEAK = frozenset(["use", "rely", "employ", "make", "include", "ignore", "allow"])
_RUN = frozenset(["run", "execute", "start", "launch", "invoke", "trigger"])
_CJK_CUES = frozenset("不要得能许准可必须只仅请都也的了和与在是把被对给从向于一个任何所有没有")


def derived(text: str) -> dict[str, list[Value]]:
    """The slots of a rule, from its own words.

    Args:
        text: the rule.

    Returns:
        By slot the phrases of which one must stand; empty for a text without content words.
    """
    slots: dict[str, list[Value]] = {}
    values = list(_values(text))
    for at, phrases in enumerate(values[:_MOST_VALUES]):
        slots[f"value{at + 1}"] = phrases
    rest = _NAMED.sub(" ", _COUNTED.sub(" ", _VALUES.sub(" ", text)))
    words = _content(rest)
    asked = [word for word in words if ACTIONS.get(word) is ACTIONS["ask"]]
    # Whose leave is needed is what such a rule is about, so it stands by itself.
    for name, actions in (("asked", asked), ("done", _done(words, asked))):
        if actions:
            slots[name] = _phrases(phrase for word in actions for phrase in ACTIONS[word])
    # A number alone is of anything; a name and what is done with it are enough.
    telling = [name for name, phrases in slots.items() if isinstance(phrases[0], str)]
    if len(telling) < 2:
        slots |= _things([word for word in words if word not in ACTIONS], alone=not slots)
    if not set(slots) - {f"value{at + 1}" for at in range(_MOST_VALUES)}:
        slots |= _cjk(text)
    return slots


def _done(words: Sequence[str], asked: Sequence[str]) -> list[str]:
    """Return a rule's action, by the words that say most of it."""
    actions = [word for word in words if word in ACTIONS and word not in asked]
    telling = [word for word in actions if word not in _WEAK and word not in _RUN]
    return telling or [word for word in actions if word in _RUN]


def _things(words: Sequence[str], *, alone: bool) -> dict[str, list[Value]]:
    if not words:
        return {}
    families = [_phrases(THINGS.get(word) or forms(word)) for word in words]
    # With nothing else to tell the rule by, one word of many would be a mention of anything:
    # the first that is no common noun of such work has to stand, and one of the others.
    if len(families) > 1 and (alone or len(families) > 3):
        telling = next((at for at, word in enumerate(words) if word not in THINGS), 0)
        others = [family for at, family in enumerate(families) if at != telling]
        return {
            "thing": families[telling],
            "thing2": _phrases(one for family in others for one in family),
        }
    return {"thing": _phrases(one for family in families for one in family)}


def _values(text: str) -> Iterator[list[Value]]:
    found: list[tuple[int, list[Value]]] = []
    taken = [False] * (len(text) + 1)
    for match in _VALUES.finditer(text):
        taken[match.start() : match.end()] = [True] * (match.end() - match.start())
        found.append((match.start(), _spellings(match[match.lastgroup or 0])))
    for match in _NUMBER.finditer(text):
        if not taken[match.start()]:
            found.append((match.start(), _numbers(match[1])))
    for match in _NAMED.finditer(text):
        if not taken[match.start()] and not _sentence_start(text, match.start()):
            found.append((match.start(), _phrases([match[0], match[0].removesuffix("s")])))
    for _, phrases in sorted(found, key=lambda one: one[0]):
        yield phrases


def _sentence_start(text: str, at: int) -> bool:
    return not text[:at].rstrip(" \"'(*-").endswith(tuple("abcdefghijklmnopqrstuvwxyz,;"))


def _spellings(value: str) -> list[Value]:
    bare = value.strip().rstrip(".,;:").strip("/*")
    spelt = [value.strip().rstrip(".,;:"), bare]
    last = bare.rsplit("/", 1)[-1]
    if "/" in bare and len(last) > 4:
        spelt.append(last)
    if " " not in bare and not re.search(r"[./@-]", bare):
        spelt += [bare.replace("_", " ")]
    return _phrases(one for one in spelt if one)


def _numbers(value: str) -> list[Value]:
    number = float(value.replace(",", "").replace(" ", ""))
    whole = int(number) if number.is_integer() else number
    words = _NUMBER_WORDS.get(int(number)) if number.is_integer() else None
    return [whole, words] if words else [whole]


def _content(text: str) -> list[str]:
    """Content words in order, once each, without those that only forbid or oblige."""
    found: dict[str, None] = {}
    for match in _WORD.finditer(text.casefold().replace("’", "'")):
        word = match[0].strip("'-")
        base = next((one for one in bases(word) if one in ACTIONS or one in THINGS), word)
        if len(word) > 1 and word not in COMMON and base not in COMMON:
            found[base] = None
    return list(found)


def _cjk(text: str) -> dict[str, list[Value]]:
    pairs = [
        run[at : at + 2]
        for run in _CJK_RUN.findall(text)
        for at in range(len(run) - 1)
        if not _CJK_CUES & set(run[at : at + 2])
    ]
    half = (len(pairs) + 1) // 2
    found = {"thing": _phrases(pairs[:half]), "thing2": _phrases(pairs[half:])}
    return {name: phrases for name, phrases in found.items() if phrases}


def _phrases(found: Iterable[Value]) -> list[Value]:
    return list(dict.fromkeys(found))


def bases(word: str) -> Iterator[str]:
    """A word, and what it may be an inflection of."""
    yield word
    if word.endswith("ies") and len(word) > 4:
        yield word[:-3] + "y"
    if word.endswith("es") and len(word) > 4:
        yield word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        yield word[:-1]
    for end in ("ing", "ed"):
        if word.endswith(end) and len(word) > len(end) + 2:
            stem = word[: -len(end)]
            yield stem
            yield stem + "e"
            if stem[-1:] == stem[-2:-1]:
                yield stem[:-1]


def forms(word: str) -> list[str]:
    """A word and its usual inflections."""
    base = next((one for one in list(bases(word))[1:] if len(one) > 2), word)
    return sorted(inflected(word) | inflected(base))
