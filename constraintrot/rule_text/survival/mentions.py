"""The measure ``mentions``: whether the policy's words are in a text, verbatim or slot by slot.

It measures the topic, not the statement: a rule that was lifted, given to others or made a
preference is mentioned as well (``rules`` distinguishes these). A constraint is kept if all its
slots are close together in one text: `only` in one message and a domain in another are not a
policy.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

Value: TypeAlias = str | int | float
Slots: TypeAlias = Mapping[str, Sequence[Value]]
# By slot, for each phrase a substring of all its matches, and its pattern; for folded text.
Phrases: TypeAlias = "tuple[tuple[str, tuple[tuple[str, re.Pattern[str]], ...]], ...]"

# A policy has up to three sentences; slots further apart belong to other things.
WINDOW = 3
# A stop within a word (an address, a number) does not end a sentence. No part can match in two
# ways, so any text takes linear time. A sentence includes its trailing blanks, so that removing
# it never joins its neighbours. In German the day of a date ends in a stop ("am 12. Juni").
_SENTENCE = re.compile(
    r"""[^\n.!?。！？]*
        (?: (?: [.!?] (?! ["'”’“)\]]* (?:\s|$) )
              | (?<=\d) [.] (?=\ (?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b) )
            [^\n.!?。！？]* )*
        (?: [.!?。！？]+ ["'”’“)\]]* | \n+ | $ ) \s*""",
    re.VERBOSE,
)
# Letters of scripts that separate words by blanks: Latin ones, accents included.
_WORD = "[a-z0-9_\u00df-\u00f6\u00f8-\u024f]"


@dataclass(frozen=True)
class Mentions:
    """The part of a constraint that a context mentions.

    Attributes:
        verbatim: whether the policy's own text is there (blanks aside).
        slots: by slot, whether it is in the best window of sentences.
    """

    verbatim: bool
    slots: Mapping[str, bool] = field(default_factory=dict[str, bool])

    @property
    def kept(self) -> bool:
        """Whether all slots are together, or the text itself is there."""
        return self.verbatim or (bool(self.slots) and all(self.slots.values()))

    @property
    def share(self) -> float:
        """Share of slots kept, 0 to 1."""
        if self.verbatim or not self.slots:
            return float(self.verbatim)
        return sum(self.slots.values()) / len(self.slots)


def mentions(texts: Iterable[str], policy: str, slots: Slots) -> Mentions:
    """Return the mentions of a constraint in a context's texts, each searched by itself.

    Of each slot one phrase must be in the window.
    """
    texts = list(texts)
    wanted = blanks_folded(policy)
    verbatim = any(wanted in blanks_folded(text) for text in texts)
    best: frozenset[str] = frozenset()
    for text in texts:
        there = best_window(text, slots)
        if len(there) > len(best):
            best = there
    return Mentions(verbatim, {name: name in best for name in slots})


def best_window(text: str, slots: Slots) -> frozenset[str]:
    """Return the slots in the best window of adjacent sentences of one text."""
    phrases = phrases_of(slots)
    anywhere = standing(folded(text), phrases)
    if len(anywhere) <= 1:
        return anywhere
    by_sentence = [standing(folded(sentence), phrases) for sentence in sentences(text)]
    windows = (
        frozenset[str]().union(*by_sentence[at : at + WINDOW]) for at in range(len(by_sentence))
    )
    return max(windows, key=len, default=frozenset[str]())


def sentences(text: str) -> list[str]:
    """Return sentences and lines with their trailing blanks; joined, they are the text."""
    return [found[0] for found in _SENTENCE.finditer(text) if found[0]]


def phrases_of(slots: Slots) -> Phrases:
    """Return the phrases of slots as ``standing`` takes them; made once for many texts."""
    return tuple((name, tuple(map(_pattern, phrases))) for name, phrases in slots.items())


def standing(text: str, phrases: Phrases) -> frozenset[str]:
    """Return the slots with a phrase in a folded text."""
    # Plain loops: this is asked of every sentence of every episode.
    found: list[str] = []
    for name, some in phrases:
        for needle, pattern in some:
            # Most phrases are not in the text, which a plain search finds much faster.
            if needle in text and pattern.search(text) is not None:
                found.append(name)
                break
    return frozenset(found)


def folded(text: str) -> str:
    """Return a text folded in case, width, composition and blanks."""
    return blanks_folded(unicodedata.normalize("NFKC", text).casefold())


def blanks_folded(text: str) -> str:
    """Return a text with single blanks, and none at its ends."""
    return " ".join(text.split())


@lru_cache(maxsize=4096)
def _pattern(phrase: Value) -> tuple[str, re.Pattern[str]]:
    """Return a pattern of whole words, or of a number in any usual notation, and its substring."""
    if not isinstance(phrase, str):
        return _number(phrase)
    words = folded(phrase)
    body = re.escape(words)
    # CJK has no blanks between words, so only Latin word ends are boundaries.
    before = f"(?<!{_WORD})" if re.match(_WORD, words[:1]) else ""
    after = f"(?!{_WORD})" if re.match(_WORD, words[-1:]) else ""
    return words, re.compile(before + body + after)


def _number(value: int | float) -> tuple[str, re.Pattern[str]]:
    whole, _, fraction = f"{value:.2f}".partition(".")
    groups = [whole[max(0, end - 3) : end] for end in range(len(whole), 0, -3)][::-1]
    # One mark separates all groups; a further group makes a larger number: "1 000 000" does not
    # contain 1000, and "3 500" does not contain 500.
    body = groups[0] + "".join(
        (r"(?P=gap)" if at else r"(?P<gap>[,. '’]?)") + group for at, group in enumerate(groups[1:])
    )
    before = r"(?<![\d.,])" + (r"(?<!\d[ '’])" if len(groups[0]) == 3 else "")
    further = r"(?P=gap)" if groups[1:] else "[ '’]"
    decimals = r"(?:[.,]0{1,2})?" if fraction == "00" else rf"[.,]{fraction.rstrip('0')}0?"
    pattern = rf"{before}{body}(?!{further}\d{{3}}(?!\d)){decimals}(?!\d|[.,]\d)"
    # The last group is the same for all separators.
    return groups[-1], re.compile(pattern)
