"""The prose of an email, without code, markup and invisible characters; words in base64."""

import binascii
import re
import unicodedata
from base64 import b64decode
from collections.abc import Iterator
from html import unescape

# Invisible signs, and vowel signs that stand on a letter.
_MARKS = ("Cf", "Mn", "Mc")
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_FENCE = re.compile(r"```[^\s`]{0,20}(.*?)(?:```|\Z)", re.S)
_PROSE = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*[,.:!?]*")
_FIGURE = re.compile(r"\d[\d.:,]*")
_SQL = re.compile(r"\bSELECT\b.{1,200}?\bFROM \S+(?: WHERE \S+ \S+ \S+)?")
_CODE_SPAN = re.compile(r"`[^`\n]{1,300}`")
_TAG = re.compile(r"</?[a-zA-Z][a-zA-Z0-9]{0,10}(?: [^<>\n]{0,200}=[^<>\n]{0,200})? ?/?>")


def prose_of(text: str) -> str:
    """Return a text without code, markup and invisible characters."""
    text = unescape(unicodedata.normalize("NFKC", text)).encode("utf-8", "ignore").decode()
    if not text.isascii():
        text = "".join(sign for sign in text if unicodedata.category(sign) not in _MARKS)
    prose = _SQL.sub(" ", _CODE_SPAN.sub(_sentence, _FENCE.sub(_prose_lines, _TAG.sub(" ", text))))
    # Prose in code signs is prose, if the email is nothing else.
    return prose if WORD.search(prose) else text.replace("`", " ")


def _prose_lines(fence: re.Match[str]) -> str:
    kept = [line for line in fence[1].splitlines() if _is_prose(line.split())]
    return "\n".join(["", *kept, ""])


def _sentence(span: re.Match[str]) -> str:
    tokens = span[0].strip("`").split()
    spoken = any(token[-1] in ",.!?:" for token in tokens)
    return " ".join(tokens) if len(tokens) > 4 and spoken and _is_prose(tokens) else " "


def _is_prose(tokens: list[str]) -> bool:
    """Return whether four words or more are a sentence; a figure or two may stand among them."""
    words = sum(_PROSE.fullmatch(token) is not None for token in tokens)
    figures = sum(_FIGURE.fullmatch(token) is not None for token in tokens)
    return words > 3 and words + figures == len(tokens) and figures * 4 <= words


_ENCODED = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{8,4000}={0,2}(?![\w+/=-])")


def decoded_words(text: str) -> Iterator[str]:
    """Yield the printable texts that the words of a text spell in base64."""
    for found in _ENCODED.finditer(text):
        word = found[0].rstrip("=")
        try:
            decoded = b64decode(word + "=" * (-len(word) % 4), altchars=b"-_", validate=True)
            plain = decoded.decode("utf-8")
        except (binascii.Error, ValueError):
            continue
        if plain.isprintable():
            yield plain
