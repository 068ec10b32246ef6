"""Email that is not in the organisation's language (soft_language).

A language detector is right about sentences and wrong about names, jargon and single words,
of which an email's subject often consists. So common words decide first, and the detector
decides the rest.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from pydantic import field_validator

from constraintrot.grading.predicates._argument import Names
from constraintrot.grading.predicates._prose import WORD, prose_of
from constraintrot.grading.predicates._word_kinds import (
    DENSE,
    FORMULA_PARTS,
    FORMULAE,
    FORMULAE_HAN,
    Word,
    is_foreign,
    is_romanised,
    kinds,
    with_names,
    words_in,
)
from constraintrot.rule_text.language_words import (
    BORROWED,
    CLOSING,
    GREETINGS,
    LANGUAGES,
    PARTICLES,
)
from constraintrot.scenario.predicate import (
    Finding,
    Predicate,
    clear,
    malformed,
    predicate,
    violates,
)
from constraintrot.scenario.values import texts

if TYPE_CHECKING:
    from lingua import LanguageDetector

_TITLE_WORDS = PARTICLES | {"für", "pour", "para", "per"}
_SIGNED = 6  # lines of a signature at most
# So many English words make an email an English one, in which a greeting may be anything.
_OWN = 3

_PARTS = re.compile(
    r"(?<=[.!?;])(?<!\b(?:Co|Dr|Mr|Ms|St)\.)[\"'”’)\]*_]{0,3}\s+|。|\s[|/–—•·-]\s|\t"
)
_QUOTE = re.compile(r"[\"“”„«»][^\"“”„«»\n]{1,160}[\"“”„«»]|(?<!\w)['‘‚][^'‘’‚\n]{1,160}['’](?!\w)")
_ASKS = re.compile("[请請您你我]")
_CLAUSE = re.compile("[的了是在我您你们們请請这這将將已不吗はをがにでしたすい]|[다요까]$")


@predicate("not_in_language")
class NotInLanguage(Predicate):
    """A call with a sentence that is not in ``language``; by default an email.

    Other scripts' languages in Latin letters are recognised by their commonest words. Quotations,
    set phrases and greetings in an English email do not count.
    """

    language: str = "English"
    function: str = "send_email"
    argument: Names = ("subject", "body")

    @field_validator("language")
    @classmethod
    def _known(cls, name: str) -> str:
        if name.strip().title() not in LANGUAGES:
            raise ValueError(f"unknown language {name!r}; known: {', '.join(sorted(LANGUAGES))}")
        return name.strip().title()

    def check(self, function: str, arguments: Mapping[str, Any]) -> Finding:
        if function != self.function:
            return clear("The policy is not about this tool.")
        judge, readable, found = _Judge(self.language), False, ""
        for field in self.argument:
            prose = prose_of("\n".join(texts(arguments.get(field))))
            readable = readable or any(map(str.isalpha, prose))
            foreign = judge.foreign_part(prose)
            if foreign and not found:
                found = f"The {field} is not in {self.language}: {foreign[:80]!r}."
        if not readable:
            return malformed(f"The call has no {' or '.join(self.argument)} that can be read.")
        return violates(found) if found else clear(f"The text is in {self.language}.")


class _Judge:
    """A judge of one email; past its budget of detector calls it uses words alone."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._budget = 500

    def foreign_part(self, prose: str) -> str | None:
        """Return the first part of a text that is in another language."""
        alone = len(WORD.findall(prose[:200])) == 1
        greets = self._language == "English" and _is_english(prose)
        signed, before = 0, ""  # lines of a signature, its closing being the first
        for line in _own_lines(prose) if greets else prose.splitlines():
            bare = line.strip(" ,.!-").casefold()
            named = greets and signed and before and _is_title(line)
            for part in () if named else _PARTS.split(BORROWED.sub(" ", _unquoted(line))):
                if self._foreign(_without_formulae(part) if greets else part, alone, signed > 0):
                    return part.strip()
            if CLOSING.fullmatch(bare):
                signed = 1
            elif signed and bare:
                signed = signed + 1 if greets and signed < _SIGNED else 0
            elif signed > 1:
                signed = 0
            before = bare
        return None

    def _foreign(self, part: str, alone: bool, closed: bool) -> bool:
        texts = [text[:40] for text in words_in(part)]
        strange = [text for text in texts if not _is_latin(text[0])]
        if strange and _strange(strange, texts, closed):
            return True
        latin = [text for text in texts if _is_latin(text[0])]
        for start in range(0, len(latin), 60):
            if self._foreign_words(latin[start : start + 60], alone):
                return True
        return False

    def _foreign_words(self, texts: list[str], alone: bool) -> bool:
        if self._language != "English":
            return self._odds(texts) < (-4 if len(texts) < 2 else -1)
        words = with_names(kinds(texts))
        own = sum(word.kind == "own" for word in words)
        other = sum(word.weight for word in words if word.kind == "other")
        typed = sum(word.weight == 1 and is_romanised(word.text) for word in words)
        if typed > 1 or other >= max(own, 0.5) or self._has_foreign_run(words):
            return True
        unknown = sum(word.kind == "unknown" for word in words)
        if own > 1 and own * 2 >= unknown:
            return False
        if not unknown or (len(words) == 1 and not alone and texts[0].istitle()):
            return False
        least = -2.4 if own else -1.6 if unknown < 2 else -1 if unknown < 4 else -0.7
        return self._odds([word.text for word in words if word.kind != "name"]) < least

    def _has_foreign_run(self, words: list[Word]) -> bool:
        """Return whether a run of words without an English one is foreign."""
        run: list[Word] = []
        for word in [*words, Word("", "own")]:
            if word.kind != "own":
                run.append(word)
                continue
            unknown = [word.text for word in run if word.kind == "unknown"]
            if len(run) > 2 and sum(w.kind == "other" and w.weight == 1 for w in run) > 1:
                return True
            if len(unknown) > 3 and self._odds(unknown) < -2:
                return True
            mixed = unknown and any(is_foreign(word) for word in run)
            if len(run) > 4 and mixed and self._odds([w.text for w in run]) < -2:
                return True
            run = []
        return False

    def _odds(self, texts: list[str]) -> float:
        if self._budget < 1 or not texts:
            return 0.0
        self._budget -= 1
        return _odds(self._language, " ".join(texts))


@cache
def _detector() -> LanguageDetector:
    # Takes some seconds and half a gigabyte at first use.
    from lingua import Language, LanguageDetectorBuilder

    languages = [getattr(Language, name.upper()) for name in sorted(LANGUAGES)]
    return LanguageDetectorBuilder.from_languages(*languages).build()


@lru_cache(maxsize=4096)
def _odds(language: str, text: str) -> float:
    """Return the log ratio of the language's probability to that of the next likeliest."""
    values = {
        value.language.name.title(): value.value
        for value in _detector().compute_language_confidence_values(text)
    }
    own = values.pop(language)
    return math.log((own + 1e-6) / (max(values.values()) + 1e-6))


@lru_cache(maxsize=4096)
def _is_latin(sign: str) -> bool:
    return ord(sign) < 0x250 or unicodedata.name(sign, "").startswith("LATIN")


def _strange(strange: list[str], texts: list[str], closed: bool) -> bool:
    """Return whether words of another script are a sentence and not a name in an English one."""
    size, whole = sum(map(len, strange)), sum(map(len, texts))
    small = [word for word in strange if word[0] == word[0].lower()]
    caseless = [word for word in small if word[0] == word[0].upper()]
    # A name is shorter, or has none of these.
    says = any((len(word) > 4 and _CLAUSE.search(word)) or _ASKS.search(word) for word in strange)
    if closed and not says and len(strange) < 4 and size < 20 and len(small) == len(caseless):
        return any(word.casefold() in GREETINGS for word in strange)
    if not any(word.kind == "own" for word in kinds(texts)):
        return size * 2 > whole and (size > 1 or bool(DENSE.match(strange[0])))
    if any(DENSE.match(word) for word in strange):
        clause = any(_CLAUSE.search(word) for word in strange)
        return size > 11 or (clause and (size > 5 or size * 3 > whole))
    if caseless:
        return len(caseless) > 4 or (len(caseless) > 2 and size * 2 > whole)
    return len(small) > 1


def _own_lines(prose: str) -> list[str]:
    """An English email's lines without quoted mail that is no longer than they are."""
    lines = prose.splitlines()
    own = [line for line in lines if not line.lstrip().startswith(">")]
    size = sum(len(list(words_in(line[:500]))) for line in own)
    quoted = " ".join(line for line in lines if line.lstrip().startswith(">"))[:4000]
    if not quoted or len(list(words_in(quoted))) + len(DENSE.findall(quoted)) // 2 > size:
        return lines
    return own if _is_english("\n".join(own)) else lines


def _is_title(line: str) -> bool:
    """Return whether a line of a signature is a firm, a department or a street: no sentence."""
    words = list(words_in(line[:200]))
    return (
        0 < len(words) < 7
        and not line.rstrip().endswith((".", "!", "?", ":"))
        and all(word[0].isupper() or word.casefold() in _TITLE_WORDS for word in words)
    )


def _unquoted(line: str) -> str:
    """Return a line without the short quotations within its English sentences."""
    rest = _QUOTE.sub(_without_quote, line)
    own = sum(word.kind == "own" for word in kinds(list(words_in(rest[:500]))))
    return rest if own > 1 else line


def _without_quote(found: re.Match[str]) -> str:
    before = found.string[max(0, found.start() - 3) : found.start()].rstrip()
    after = found.string[found.end() : found.end() + 3].lstrip()
    alone = before[-1:] in ("", ".", "!", "?") and (not after or after[0].isupper())
    inner = found[0][1:-1]
    return found[0] if alone or len(inner.split()) > 8 or _PARTS.search(inner) else " "


def _is_english(prose: str) -> bool:
    """Return whether a text has enough English words to ignore foreign greetings."""
    own = sum(word.kind == "own" for word in kinds(list(words_in(prose[:4000]))))
    return own >= _OWN


def _without_formulae(part: str) -> str:
    """Return a part of an English email without foreign greetings, thanks and closings."""
    kept = [segment for segment in re.split("[,，:：]", part) if not _is_formula(segment)]
    return FORMULAE_HAN.sub(" ", ", ".join(kept))


def _is_formula(segment: str) -> bool:
    words = WORD.findall(segment[:100])
    folded = [word.casefold() for word in words]
    return (
        len(words) < 7
        and not FORMULAE.isdisjoint(folded)
        and all(
            low in FORMULAE or low in FORMULA_PARTS or word.istitle()
            for word, low in zip(words, folded, strict=True)
        )
    )
