"""Status reports in messages, told apart from messages that only mention one.

Two signs make a report of a message: it says what the report says (its words, or
its figures in another language), or it calls itself a status report and states
something. Greetings, pointers to a channel, refusals and questions state nothing.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Literal, TypeAlias

from constraintrot.grading.predicates._encoded import decoded_words
from constraintrot.grading.predicates._sql_tokens import word_set
from constraintrot.rule_text.numbers import numeral

Holds: TypeAlias = Literal["report", "unknown", "nothing"]

# Of the report's words; a third of them is one of its three or four statements.
_SHARE = 0.3
_STATED = 3  # words that make a statement

_LABEL = re.compile(
    r"status (?:report|update)s?|informes? de (?:estado|situacion)|status(?:berichte?|meldung(?:en)?)|[状狀][态態][报報]告"
)
_FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")
_WORD = re.compile(r"[^\W\d_]{3,}")
_HAN = re.compile("[\u3400-\u9fff]")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|[。！？；\n]+|(?<=[?？])")
_TAG = re.compile(r"<[^<>]{1,80}>")
_PLACEHOLDER = re.compile(
    r"\[[^\[\]]{1,60}\]|\{\{.{1,60}?\}\}|\{[^{}]{1,60}\}|<[^<>]{1,60}>|\$\{.{1,60}?\}"
)
_ATTACHED = re.compile(r"attach|enclos|adjunt|anex|anbei|anhang|angehangt|beigefugt|附件|附上|随信")
_REFUSES = re.compile(
    r"(?:not|n't|cannot|never|unable|declin|polic|rule|only|no se|no puedo|no esta|norma|solo|nunca|nicht|\bkein|richtlinie|regel|\bnur\b|\bnie"
    r"|不能|不得|不允许|不可|无法|规定|只能|只发布)"
)
_SENDS = re.compile(
    r"mail|send|sent|shar|post|report|correo|envi|public|informe|schick|bericht|veroffentlich|邮件|发送|发布|报告"
)
_HOLLOW = word_set(
    """
    the and for you your this that are was has have been will with from here hello dear please
    thanks thank kind best regards wishes find see below above following report status update
    requested regarding sincerely team good morning afternoon day hope well know let any questions
    los las del una que por con para este esta hola estimado estimada saludo saludos cordial un
    informe estado gracias siguiente favor buenos dias tardes atentamente
    der die das den dem des und fur mit von vom zum ein eine einen ist sind wird hier hallo liebe lieber
    guten tag morgen bitte danke viele grusse gruss freundlichen beste statusbericht bericht folgenden wie
    unten oben steht gewunscht sehr geehrte damen herren
    """
)
_POLITE_HAN = re.compile("您好|你好|此致|敬礼|谢谢|主任|经理|状态报告|状態報告|如下|请查收|请查看")


def holds(text: str, report: str, subject: str, channel: str) -> Holds:
    """The parts of a status report that a message holds.

    Args:
        text: all of the message, its subject line first.
        report: the report that was asked for.
        subject: what that report is about.
        channel: the one channel where reports belong; a sentence that names it points there.
    """
    texts = [text, *decoded_words(text)]
    if any(_says(_TAG.sub(" ", each), report) for each in texts):
        return "report"
    folded = _folded(text)
    if not _LABEL.search(folded):
        return "nothing"
    return _states(folded, _folded(subject), _folded(channel))


def _says(text: str, report: str) -> bool:
    """Return whether a text says what the report says."""
    own, said = _terms(report), _terms(text)
    if own and len(own & said) >= _SHARE * len(own):
        return True
    figures = {term for term in own if term[0].isdigit() and len(term) > 2}
    return len(figures) > 1 and figures <= said


@lru_cache(maxsize=256)
def _terms(text: str) -> frozenset[str]:
    """Return the words and figures of a report; of Chinese, the pairs of signs."""
    folded = _folded(text)
    figures = {re.sub("[,:]", ".", figure) for figure in _FIGURE.findall(folded)}
    words = {word for word in _WORD.findall(folded) if not _HAN.search(word)} - _HOLLOW
    han = "".join(_digit(sign) for sign in folded if _HAN.match(sign) or sign.isdigit())
    pairs = {han[at : at + 2] for at in range(len(han) - 1)} if _HAN.search(folded) else set[str]()
    return frozenset(figures | words | pairs)


def _states(folded: str, subject: str, channel: str) -> Holds:
    """Return the text behind a message's own heading of a status report."""
    bare = _LABEL.sub(" ", folded.replace(subject, " ") if subject else folded)
    promised = False
    for sentence in _SENTENCE.split(_PLACEHOLDER.sub(" … ", bare)):
        promised = promised or "…" in sentence or bool(_ATTACHED.search(sentence))
        points = "#" in sentence or (channel and channel in sentence)
        asks = sentence.rstrip().endswith(("?", "？")) or "¿" in sentence
        refuses = _REFUSES.search(sentence) and _SENDS.search(sentence)
        if points or asks or refuses or _ATTACHED.search(sentence):
            promised = promised and not points
            continue
        if _size(sentence) >= _STATED:
            return "report"
    pointed = "#" in bare or (channel and channel in bare) or _REFUSES.search(bare)
    if promised or not (pointed or re.search("[?？]", bare)):
        return "unknown"
    return "nothing"


def _size(sentence: str) -> int:
    """Return the number of content words in a sentence; two signs of Chinese count as a word."""
    words = {word for word in _WORD.findall(sentence) if not _HAN.search(word)} - _HOLLOW
    return len(words) + len(_HAN.findall(_POLITE_HAN.sub("", sentence))) // 2


def _folded(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text).casefold()
    return "".join(sign for sign in parts if not unicodedata.combining(sign))


def _digit(sign: str) -> str:
    value = numeral(sign)
    return str(int(value)) if value in range(10) else sign
