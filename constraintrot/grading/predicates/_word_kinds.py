"""The kind of each word of a text: English, foreign, a name, or unknown."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from constraintrot.grading.predicates._prose import WORD
from constraintrot.grading.predicates._romanised_words import CHAT_ALPHABET, ROMANISED, TECHNICAL
from constraintrot.grading.predicates._sql_tokens import word_set
from constraintrot.rule_text.language_words import (
    ARTICLES,
    ELISIONS,
    ENGLISH,
    FOREIGN,
    PARTICLES,
    SHARED,
    SUFFIX,
    TITLES,
)

_ACRONYM = re.compile(r"[A-Z]{2,5}s?|[b-df-hj-np-tv-xz]{2,4}")
_CODE = re.compile(r"[@_\\{}=<>$#|~^]|://|\w\(|\d|[a-z][A-Z]|\.\w|/.*/|^[/.]|^--?\w")
_CHAT = word_set("thx pls plz u ur tmrw btw")
_FIRM = word_set("co")  # "& Co. KG"
# Scripts without blanks between words.
DENSE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class Word(NamedTuple):
    """A word of a text with its kind and weight."""

    text: str
    kind: str  # own, other, shared, name or unknown
    # Lower for a capital within a sentence, which may mark a name.
    weight: float = 1


def words_in(part: str) -> Iterator[str]:
    """Yield the words of a part, without code, addresses and numbers."""
    for token in part.split():
        bare = token.strip("_*~`'\"()[]{}<>.,;:!?#“”„«»‘’…-")
        # In scripts without blanks a number is part of the sentence's token.
        code = re.sub(r"\d", "", bare) if DENSE.search(bare) else bare
        if len(bare) > 60 or not _CODE.search(code):
            yield from WORD.findall(bare)
        elif is_romanised(bare):
            yield bare


def kinds(texts: list[str]) -> list[Word]:
    shouted = len(texts) > 1 and all(text.isupper() for text in texts)
    words: list[Word] = []
    for index, text in enumerate(texts):
        shown = text.lower() if shouted else text
        weight = 0.5 if index and shown[0].isupper() else 1
        words.append(Word(text, _kind(shown, first=not index), weight))
    return words


@lru_cache(maxsize=8192)
def _kind(text: str, first: bool) -> str:
    folded = text.casefold().replace("’", "'")
    head, mark, tail = folded.partition("'")
    if folded in TITLES or _ACRONYM.fullmatch(text) or (folded in _FIRM and text[0].isupper()):
        return "name"
    if folded in _CHAT:
        return "own"
    if folded in FOREIGN or (mark and head in ELISIONS and (head in "jqu" or text[0].islower())):
        return "name" if mark and tail and text[-len(tail)].isupper() else "other"
    if mark and tail in ("s", "t", "d", "m", "re", "ve", "ll"):
        return "own" if tail != "s" or _is_english(head) else "name"
    if folded in SHARED or len(folded) < 2 or any(sign.isdigit() for sign in folded):
        return "shared"
    if _is_english(folded):
        return "own"
    if SUFFIX.search(folded):
        return "other"
    if text[0].isupper() and not first:
        return "name"
    return "unknown"


def _is_english(folded: str) -> bool:
    stems = {folded.removesuffix(end) for end in ("s", "es", "d", "ed", "ing", "ly", "er")}
    return folded in ENGLISH or any(
        stem in ENGLISH or f"{stem}e" in ENGLISH for stem in stems - {folded} if len(stem) > 2
    )


def with_names(words: list[Word]) -> list[Word]:
    """Return the words, with a name's first and small words ("de la") marked as names."""
    named = list(words)
    for index, word in enumerate(words[:-1]):
        small = _is_small(words, index)
        ahead = range(index + 1, min(index + 4, len(words)))
        last = next((words[at] for at in ahead if not _is_small(words, at)), word)
        if not _may_name(last):
            continue
        if (small and index and _may_name(named[index - 1])) or (
            index == 0
            and last.kind == "name"
            and word.text.istitle()
            and (small or word.kind == "unknown")
        ):
            named[index] = word._replace(kind="name")
    return named


def is_romanised(text: str) -> bool:
    """Return whether a word of another script's language is typed in Latin letters."""
    folded = text.casefold()
    if folded in ROMANISED:
        return True
    letters = re.sub(r"\d", "", folded)
    return bool(
        len(folded) < 40
        and CHAT_ALPHABET.fullmatch(folded)
        and folded not in TECHNICAL
        and not _is_english(letters)
    )


def is_foreign(word: Word) -> bool:
    """Return whether a word is foreign, and not a small word of a name."""
    return word.kind == "other" and word.text.casefold() not in PARTICLES


def _may_name(word: Word) -> bool:
    return word.kind == "name" or (word.kind == "other" and word.weight < 1)


def _is_small(words: list[Word], index: int) -> bool:
    """Return whether a word is a small word of a name, and not a German article."""
    text = words[index].text.casefold()
    if text in ARTICLES and (not index or words[index - 1].text.casefold() not in PARTICLES):
        return any(word.kind == "own" for word in words)  # "Haus der Kunst" in English
    return text in PARTICLES
