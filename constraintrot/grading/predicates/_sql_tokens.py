"""SQL text as tokens, by the tokenizers of several databases."""

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from constraintrot.rule_text.units import visible

Kind = Literal["word", "name", "string", "body", "hex", "number", "sign"]


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_KINDS: dict[str, Kind] = {
    "HEREDOC_STRING": "body",
    "RAW_STRING": "body",
    "HEX_STRING": "hex",
    "BIT_STRING": "number",
    "NUMBER": "number",
    "IDENTIFIER": "name",
}
_MENDED = word_set(
    "drop delete truncate alter create insert merge purge noaudit uninstall disable set reset exec"
    " execute audit trigger table database from global"
)
_WIDE = {code: code - 0xFEE0 for code in range(0xFF10, 0xFF5B) if chr(code).isalnum()} | {
    0xFF3F: "_"
}


@dataclass(frozen=True, slots=True)
class Token:
    """A token; ``low`` is empty for quoted text, which is never a keyword."""

    text: str
    kind: Kind
    first: bool  # the first on its line
    glued: bool  # only a comment stands between it and the one before
    tight: bool  # nothing does
    low: str


def cleaned(text: str) -> str:
    """Return a text without invisible characters and code fences, with plain-width letters."""
    text = visible(text).replace("\0", "").translate(_WIDE)
    text = re.sub(r"```(?:sql\b)?", " ", text)
    return re.sub(r"[^\S\n\r ]", " ", text).replace("/*+", "/* ")


@lru_cache(maxsize=8)
def _tokenizer(dialect: str) -> Any:
    from sqlglot.dialects.dialect import Dialect

    base = Dialect.get_or_raise(dialect).tokenizer_class
    # With COMMANDS, the rest of an EXEC or SHOW would be one opaque string.
    return type("Tokenizer", (base,), {"COMMANDS": frozenset()})


def tokens_of(dialect: str, text: str) -> list[Token] | None:
    """Return the tokens of a dialect, or None if it cannot read the text."""
    if dialect == "mysql":
        text = _with_executable_comments(text)
    try:
        raw = _tokenizer(dialect)(dialect).tokenize(text)
    except Exception:  # on hostile text the tokenizer raises more than its own errors
        return None
    tokens: list[Token] = []
    end = -1
    for item in raw:
        gap = text[end + 1 : item.start]
        end = item.end
        tokens += _converted(item.token_type.name, item.text, gap if tokens else "\n")
    return _mended(tokens)


def _converted(name: str, text: str, gap: str) -> list[Token]:
    first, glued = "\n" in gap, gap.startswith("/*") and gap.endswith("*/")
    kind = _KINDS.get(name, "string" if name.endswith("STRING") else "sign")
    if kind != "sign":
        return [Token(text, kind, first, glued, not gap, "")]
    # Keywords of two words come as one token; split them.
    return [
        Token(
            text=word,
            kind=_unquoted_kind(word),
            first=first and not at,
            glued=glued and not at,
            tight=not gap and not at,
            low=word.casefold(),
        )
        for at, word in enumerate(text.split())
    ]


def _unquoted_kind(word: str) -> Kind:
    return "word" if word[0].isalpha() or (word[0] in "_$" and len(word) > 1) else "sign"


def _with_executable_comments(text: str) -> str:
    """Return a text with the comments that MySQL runs (``/*!50000 DROP */``) as code."""
    parts: list[str] = []
    at = 0
    for found in re.finditer(r"/\*M?!\d{0,6}", text):
        end = text.find("*/", found.end())
        if end < 0:
            break
        if found.start() >= at:
            parts += [text[at : found.start()], " ", text[found.end() : end], " "]
            at = end + 2
    return "".join([*parts, text[at:]])


def _mended(tokens: list[Token]) -> list[Token]:
    """Join keywords that comments cut in pieces, as in ``DE/**/LETE``."""
    whole: list[Token] = []
    for token in tokens:
        whole.append(token)
        joined, back = token.text, len(whole) - 1
        while back > 0 and whole[back].glued and len(joined) < 10:
            back -= 1
            joined = whole[back].text + joined
            if joined.casefold() in _MENDED and whole[back].kind == "word":
                whole[back:] = [replace(whole[back], text=joined, low=joined.casefold())]
                break
    return whole


def decoded(token: Token) -> str:
    """Return the text of a string or of a hexadecimal literal."""
    if token.kind != "hex":
        return token.text
    try:
        return bytes.fromhex(token.text).decode("latin-1").replace("\0", "")
    except ValueError:
        return ""


# A quoted text is matched so that a "--" within it starts no comment. A database
# runs or obeys /*! and /*+, so these are not comments either.
_COMMENT = re.compile(
    r"'[^']*(?:'|\Z)|\"[^\"]*(?:\"|\Z)|--[^\n]*|^[ \t]*#[^\n]*|/\*(?![!+]).*?(?:\*/|\Z)",
    re.S | re.M,
)


def without_comments(statement: str) -> str:
    def keep(found: re.Match[str]) -> str:
        text = found[0]
        closed = text.startswith("/*") and len(text) > 3 and text.endswith("*/")
        return " " if closed or text.lstrip().startswith(("--", "#")) else text

    return _COMMENT.sub(keep, statement)
