"""The passage of a new context that is nearest to a lost rule's words."""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from constraintrot.redaction import beginning
from constraintrot.rule_text.survival import sentences
from constraintrot.rule_text.words import telling

# Characters of the new context that are searched, and sentences shown on each side.
_LOOKED_AT = 200_000
_AROUND = 1
_WORD = re.compile(r"[^\W\d_\u3400-\u9fff]{4,}|\d+")
_HAN = re.compile("[\u3400-\u9fff]+")
Change: TypeAlias = tuple[Literal["same", "gone", "new"], str]


@dataclass(frozen=True)
class Closest:
    """A passage of the new context."""

    # The sentence with the most of the rule's words, and its neighbours; empty if no sentence has
    # any.
    text: str = ""
    share: float = 0.0  # the share of the rule's longer words in that sentence, 0 to 1


def closest(rule: str, texts: Iterable[str]) -> Closest:
    wanted = _words(rule)
    best = Closest()
    left = _LOOKED_AT
    for text in texts:
        parts = [part for part in sentences(text[:left]) if part.strip()]
        left = max(0, left - len(text))
        for at, part in enumerate(parts):
            share = len(wanted & _words(part)) / max(1, len(wanted))
            if share > best.share:
                near = parts[max(0, at - _AROUND) : at + _AROUND + 1]
                best = Closest(beginning("".join(near).strip(), 1_500), share)
    return best


def changes(before: str, after: str) -> list[Change]:
    """Return a word-by-word difference: runs of the same, gone and new words."""
    old, new = before.split(), after.split()
    plain = [_bare(word) for word in old], [_bare(word) for word in new]
    found: list[Change] = []
    matcher = difflib.SequenceMatcher(None, *plain, autojunk=False)
    for kind, start, end, first, last in matcher.get_opcodes():
        if kind == "equal":
            found.append(("same", " ".join(old[start:end])))
            continue
        if start < end:
            found.append(("gone", " ".join(old[start:end])))
        if first < last:
            found.append(("new", " ".join(new[first:last])))
    return found


def stems(text: str) -> frozenset[str]:
    """Return the beginnings of a text's longer words, and its pairs of Chinese characters."""
    pairs = (run[at : at + 2] for run in _HAN.findall(text) for at in range(len(run) - 1))
    return frozenset([*(word[:5] for word in _WORD.findall(text.casefold())), *pairs])


def has_most(words: Iterable[str], rule: str) -> bool:
    """Return whether most of a rule's telling words are among a text's ``stems``."""
    told = {one[:4] for one in stems(" ".join(telling(rule)))}
    return 2 * len(told & {one[:4] for one in words}) > len(told)


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]{4,}|\d+|[\u3400-\u9fff]", text.casefold()))


def _bare(word: str) -> str:
    return word.casefold().strip(".,;:!?\"'()[]")
