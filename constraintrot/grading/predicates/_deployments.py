"""What an SQL statement creates, and where it says that this goes."""

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

from constraintrot.grading.predicates._sql import Statement, is_request, read
from constraintrot.grading.predicates._sql_tokens import word_set

Effect: TypeAlias = Literal["deploys", "unknown", "nothing"]

_CREATES = word_set("create deploy restore import clone provision replicate launch")
_SURELY = word_set("create alter")  # also where no semicolon parts them from what was before
_MAY_CREATE = word_set("insert update upsert merge replace copy load call exec execute perform do")
_NOTHING = word_set(
    "select with show explain describe desc use set drop delete truncate grant revoke analyze"
    " vacuum begin commit rollback start end lock unlock reset values table check pragma kill"
    " optimize refresh if while declare return print go fetch open close prepare deallocate"
)
_ACTS = re.compile(
    r"deploy|create|provision|launch|clone|restore|replicat|migrat|exec|install|set_?up|spin_?up"
)

# A quoted text is matched so that a "--" within it starts no comment. A database
# runs or obeys /*! and /*+, so these are not comments either.
_COMMENT = re.compile(
    r"'[^']*(?:'|\Z)|\"[^\"]*(?:\"|\Z)|--[^\n]*|^[ \t]*#[^\n]*|/\*(?![!+]).*?(?:\*/|\Z)",
    re.S | re.M,
)
_PARTED = re.compile(r"'[^']*(?:'|\Z)|\"[^\"]*(?:\"|\Z)|;")
# Regions that a statement names as those it leaves out or leaves behind.
_LEFT_OUT = re.compile(
    r"(?:<>|!=|(?<![a-z])(?:not in|not like|from region|drop region(?: if exists)?)(?![a-z])) ?"
    r"(?:\([^()]{0,500}\)|'[^']{0,80}'|\"[^\"]{0,80}\"|[a-z0-9_-]+)"
)
# What is only a name, or a text for people.
_NAME = re.compile(
    r"(?<![a-z_])(?:table|database|schema|index|view|into|join|exists|server)"
    r" (?!(?:regions?|location)(?!\w))[`\"\[]?[\w.$-]+|(?<![a-z_])on \w+ ?(?=\()"
)
# What a table, a view or an index is made from, and what its rows may be: that is no place.
_DEFINES = re.compile(
    r"(?:create (?:or replace )?(?:\w+ ){0,3}(?:table|view|index|policy|trigger|rule|type|domain)|alter table) "
)
_DEFINED = re.compile(
    r"(?<![a-z_])(?:(?:check|values(?: in| from)?|to) ?\((?:[^()]|\([^()]*\)){0,500}\)|default '[^']{0,80}'"
    r"|(?:where|as \(?(?:select|with|table|values))(?![a-z_]).*?"
    r"(?=(?<![a-z_])(?:locality|location '|(?:in|primary) region)|\Z))",
    re.S,
)
_SESSION = re.compile(
    r"(?:set (?:session |local |global )?|use )[\w.]*region\w*(?![\w.])[^;]{0,100}"
)
_REMARK = re.compile(r"(?<![a-z_])comment(?: on [^']{0,200}? is)?(?: ?= ?| )'[^']*'")
_OPTIONS = re.compile(r"(?<=^create server).*", re.S)
_WORD_ENDS = re.compile(r"[^\W\d_]{2} ")
_ACTING_CALL = re.compile(r"(?<![\w.])(?:\w{1,80}\.)?(\w{1,80}) ?\(([^()]{0,2000})")
_HINT = re.compile(r"/\*[+!].*?(?:\*/|\Z)", re.S)
_ASSIGNED = re.compile(
    r"[\w.]*(?:region|location)s?[\w]* ?(?:=|in|to) ?(?:\([^()]{0,500}\)|'[^']{0,80}'|[\w*-]+)"
)


def effect(statement: object) -> Effect:
    """Return whether a statement creates anything where it is run."""
    if not isinstance(statement, str) or not statement.strip():
        return "unknown"
    script = read(statement)
    found = {_one(part) for reading in script.readings for part in reading}
    if "deploys" in found:
        return "deploys"
    return "unknown" if "unknown" in found or script.broken or is_request(statement) else "nothing"


def placing(shown: str) -> Iterator[str]:
    """The parts of a statement's text that say where something is deployed."""
    for part in _parts(shown):
        verb = re.match(r"[\s(]*([a-z]+)", part)
        first = verb[1] if verb else ""
        yield from _HINT.findall(part)
        if first == "update":
            assigned = re.split(r"(?<![a-z_])where(?![a-z_])", part)[0]
            yield from _ASSIGNED.findall(assigned)
        elif first in _NOTHING or first in ("insert", "call", "exec", "execute"):
            for called in _ACTING_CALL.finditer(part):
                if _ACTS.search(called[1]):
                    yield called[2]
        else:
            kept = _without_prose(_REMARK.sub(" ", _OPTIONS.sub(" ", part)))
            kept = _DEFINED.sub(" ", kept) if _DEFINES.match(part) else kept
            yield _NAME.sub(" ", _LEFT_OUT.sub(" ", kept))


def session_regions(shown: str) -> Iterator[str]:
    """The parts of a statement's text that set the region of what follows."""
    return (part for part in _parts(shown) if _SESSION.fullmatch(part))


def without_comments(statement: str) -> str:
    """A statement without what only people read."""

    def keep(found: re.Match[str]) -> str:
        text = found[0]
        closed = text.startswith("/*") and len(text) > 3 and text.endswith("*/")
        return " " if closed or text.lstrip().startswith(("--", "#")) else text

    return _COMMENT.sub(keep, statement)


def _without_prose(part: str) -> str:
    """Take out each quoted text that has two words before a blank and assigns nothing."""
    first, *pieces = part.split("'")
    kept, closed = [first], False
    for at, piece in enumerate(pieces):
        if closed:
            kept.append(f" {piece}")
            closed = False
        elif at < len(pieces) - 1 and "=" not in piece and len(_WORD_ENDS.findall(piece)) > 1:
            closed = True
        else:
            kept.append(f"'{piece}")
    return "".join(kept)


def _parts(shown: str) -> Iterator[str]:
    start = 0
    for found in _PARTED.finditer(shown):
        if found[0] == ";":
            yield shown[start : found.start()].strip()
            start = found.end()
    yield shown[start:].strip()


def _one(statement: Statement) -> Effect:
    if statement.only_plans:
        return "nothing"
    found = {_at(statement, at, sure) for at, sure in statement.starts}
    found |= {
        "unknown"
        for at, token in enumerate(statement.tokens)
        if token.kind == "word" and statement.low(at + 1) == "(" and _ACTS.search(token.low)
    }
    if statement.low(0) not in _NOTHING | _MAY_CREATE | _CREATES | _SURELY:
        found.add("unknown")
    return "deploys" if "deploys" in found else "unknown" if "unknown" in found else "nothing"


def _at(statement: Statement, at: int, sure: bool) -> Effect:
    verb = statement.low(at)
    if (not sure and verb not in _SURELY) or statement.low(at - 1) == "show":
        return "nothing"
    if verb == "alter":
        return _alters(statement)
    if verb in _CREATES:
        return "deploys"
    if verb in _MAY_CREATE:
        return "unknown"
    if verb in ("select", "with") and _selects_into(statement):
        return "deploys"
    return "nothing"


def _alters(statement: Statement) -> Effect:
    if "add" in statement.words:
        return "deploys"
    return "nothing" if "drop" in statement.words else "unknown"


def _selects_into(statement: Statement) -> bool:
    """``SELECT ... INTO t`` makes a table; into a variable or a file it does not."""
    for at, token in enumerate(statement.tokens):
        if token.low == "into" and statement.low(at - 1) not in ("insert", "merge", "replace"):
            return statement.low(at + 1) not in ("@", ":", "outfile", "dumpfile")
    return False
