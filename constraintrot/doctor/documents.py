"""The rules that documents and other tools' texts state, read more strictly than what a user says.

A page that an agent reads is full of sentences that forbid something to somebody: of a
library's arguments, a licence's, a parser's. So a rule is taken from one only where the
sentence is a standing one and speaks to whoever works there; from source code none is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Literal, TypeAlias

from constraintrot.coding_agents.sessions.events import Message
from constraintrot.rule_text.said import said, standing

Kind: TypeAlias = Literal["rules", "document", "log", "tool"]

_RULE_FILES = ("agents", "claude", "gemini", "qwen", "rules", "policy", "policies", "handbook",
               "guideline", "contributing", "conventions", "runbook")  # fmt: skip
_SUFFIXES = frozenset(["", ".md", ".mdx", ".markdown", ".rst", ".txt", ".adoc", ".org"])
# Their entries are imperatives that were followed already: "Always release the lock".
_LOGS = ("changelog", "changes", "history", "news", "release")
_LEGAL = ("license", "licence", "copying", "notice", "authors", "copyright", "metadata")
# Marks of code; prose has few.
_MARKS = "{}()[];=<>|_\\"
_MOST_MARKS = 0.03
_LABEL = re.compile(r"^(?:[\w' -]{2,40}:\s+)?(?:please|also|and|but)?[, ]*", re.IGNORECASE)
_IMPERATIVE = re.compile(
    r"(?:never|always|do not|don't|only|no|nobody|nothing|avoid|nunca|jamas|jamás|siempre)\b",
    re.IGNORECASE,
)
_OF_ALL = re.compile(
    r"\bmay (?:only|never|not)\b|\b(?:must|shall)(?: not| never| only| always)?\b"
    r"|\b(?:is|are|be) (?:strictly |never |not |only )?(?:allowed|permitted|forbidden|prohibited|off[- ]limits)\b"
    r"|\b(?:se|queda) prohib\w+|\b(?:debe|deben)\b|禁止|不得|必须|只能|严禁",
    re.IGNORECASE,
)
_OF_OURS = re.compile(
    r"\b(?:polic(?:y|ies)|house rules?|(?:our|team|project|standing|repo(?:sitory)?) rules?|rules?:"
    r"|approv(?:al|ed)|permission|sign-off|whoever|no exceptions?|from now on|at all times"
    r"|under no circumstances?|on no account|norma|pol[ií]tica)\b|规定|政策|制度",
    re.IGNORECASE,
)
# Not a row of a table, the half of a wrapped line, or what leads in to code.
_SENTENCE = re.compile(r"(?![a-z|:`#/]).*(?<![:,(])$", re.DOTALL)
_LEGALESE = re.compile(
    r"\b(?:copyright|warrant\w*|licen[sc]\w*|liab\w+|redistribut\w+|sublicens\w*|derivative)\b",
    re.IGNORECASE,
)


def kind(message: Message) -> Kind | None:
    """Return whether a message's rules are a user's, a document's, or not taken at all."""
    if message.role == "assistant":
        return None
    if message.channel in ("user", "project file", "nested file", "mcp"):
        return "rules"
    if message.channel == "tool":
        return "tool"
    if message.channel != "file":
        return None
    path = PurePosixPath(message.origin.replace("\\", "/").lower())
    if any(part in path.name for part in _RULE_FILES):
        return "rules"
    if path.suffix not in _SUFFIXES or path.name.startswith(_LEGAL):
        return None
    return "log" if path.stem.startswith(_LOGS) else "document"


def stated(text: str, kind: Kind) -> Iterator[str]:
    """The rules that a text of a kind states.

    Args:
        text: the text.
        kind: where it is from.
    """
    if kind == "rules":
        yield from said(text)
    elif kind != "tool" or (_is_prose(text) and _OF_OURS.search(text)):
        yield from (told for told in standing(text) if _meant(told, kind))


def _is_prose(text: str) -> bool:
    return sum(map(text.count, _MARKS)) <= _MOST_MARKS * len(text)


def _meant(told: str, kind: Kind) -> bool:
    letters = [letter for letter in told if letter.isalpha()]
    if not _SENTENCE.match(told) or (len(told.split()) < 4 and told.isascii()):
        return False
    if _LEGALESE.search(told) or sum(map(str.isupper, letters)) > len(letters) / 2:
        return False
    if kind == "document" and _IMPERATIVE.match(_LABEL.sub("", told, count=1)):
        return True
    return bool(_OF_OURS.search(told)) or (kind == "document" and bool(_OF_ALL.search(told)))
