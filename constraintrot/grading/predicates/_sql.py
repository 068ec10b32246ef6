"""A reader of SQL text that may be written for any database, or to mislead.

The database is unknown, and two of them can read the same text differently: a backslash
before a quote escapes it in one and not in the other. So a text has several readings, each a
list of statements.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from constraintrot.grading.predicates._sql_tokens import (
    Token,
    cleaned,
    decoded,
    tokens_of,
    word_set,
)
from constraintrot.scenario.values import spelled, texts

_DEPTH = 3  # of statements inside strings inside statements
_STRINGS = 64

# A statement may start after these without a semicolon.
_OPENERS = word_set(
    "begin then else loop do atomic tran transaction work try catch row instead also detach"
    " analyze immediate $$ ( ) { }"
)
# After these, a verb is an identifier or a clause of the same statement.
_BOUND = word_set(
    "select distinct all by where and or not on for after before of as in like is set into from to"
    " table column view function add rename modify change grant revoke deny audit noaudit actions"
    " when case values returning , . = < > <> != <= >= + - * / % # @ :: ?"
)
_DYNAMIC = word_set(
    "exec execute prepare immediate sp_executesql dblink dblink_exec dblink_send_query openquery"
    " query_to_xml xp_cmdshell sp_msforeachtable sp_msforeachdb"
)
# Functions and procedures that run a given text.
_RUNNERS = word_set(
    "schedule schedule_in_database run_command_on_workers run_command_on_shards"
    " run_command_on_placements run_command_on_coordinator run_command_on_all_nodes"
    " exec_ddl_statement create_job submit parse"
)
_REQUEST = re.compile(
    r"\s*(?:please|kindly|could|can|would|i|we|you|let's|por favor|podr[ií]as?|ejecuta|请)\b|\s*请",
    re.I,
)
_CLIENTS = word_set("psql mysql mariadb sqlcmd sqlite3 sqlplus mongo mongosh osql bcp")
_ROUTINES = word_set("function procedure proc trigger event rule package")


@dataclass(frozen=True)
class Statement:
    """One statement of a reading.

    Attributes:
        loose: whether statements may follow one another without a semicolon.
        outer: the statement that runs this one from a string; None for others.
    """

    tokens: tuple[Token, ...]
    loose: bool
    outer: Statement | None = None

    def low(self, at: int) -> str:
        """Return the keyword at an index; empty past either end."""
        return self.tokens[at].low if 0 <= at < len(self.tokens) else ""

    @cached_property
    def words(self) -> frozenset[str]:
        """Every unquoted word in the statement."""
        return frozenset(token.low for token in self.tokens if token.kind == "word")

    @property
    def only_plans(self) -> bool:
        """Return whether the statement is only explained: planned, and not run."""
        if self.low(0) not in ("explain", "describe", "desc"):
            return False
        lows = [self.low(at) for at in range(1, 12)]
        run = next((at for at, low in enumerate(lows) if low in ("analyze", "analyse")), None)
        return run is None or self.low(run + 2) in ("false", "off", "no")

    @cached_property
    def starts(self) -> tuple[tuple[int, bool], ...]:
        """The indexes at which a statement may start, each with whether it certainly does so."""
        return tuple(self._starts())

    def _starts(self) -> Iterator[tuple[int, bool]]:
        defines = not self.words.isdisjoint(_ROUTINES) or self.low(0) == "prepare"
        for at, token in enumerate(self.tokens):
            before = self.low(at - 1)
            if token.kind != "word":
                continue
            if at == 0 or before in _OPENERS or (before == "as" and defines):
                # In parentheses a verb may be a column's name: CREATE TABLE t (drop int)
                yield at, before != "("
            elif self.loose and before not in _BOUND:
                yield at, token.first


@dataclass(frozen=True)
class Script:
    """A text's readings; ``broken`` if no database could read it unchanged."""

    readings: tuple[tuple[Statement, ...], ...]
    broken: bool = False


def read(text: str) -> Script:
    """Read a text in every way that a database may read it.

    Statements in executed strings (``EXEC('...')``) follow the statement that runs them.
    JSON text is decoded first.
    """
    text = cleaned("\n;\n".join(texts(spelled(text, within='["'))) or text)
    found = _readings(text)
    if found:
        known: dict[str, list[Statement]] = {}
        return Script(tuple(tuple(_with_inner(reading, known, _DEPTH)) for reading in found))
    # An unclosed quote: read the text without quotes and comments.
    bare = re.sub(r"/\*.*?(?:\*/|\Z)|--[^\n]*|['\"`\[\]$]|\{#", " ", text, flags=re.DOTALL)
    return Script(tuple(tuple(reading) for reading in _readings(bare)), broken=True)


def _readings(text: str) -> list[list[Statement]]:
    """Return the readings that some database can make, only well-formed ones if there are any."""
    found = {name: tokens_of(name, text) for name in _dialects(text)}
    # Quotes of a single dialect ($$..$$, q'[..]') settle the dialect.
    only = [
        name
        for name, tokens in found.items()
        if name in ("postgres", "oracle") and any(token.kind == "body" for token in tokens or ())
    ]
    readings = [
        [Statement(part, loose) for part in _split(tokens)]
        for name, tokens in found.items()
        if tokens is not None and name in (only or found)
        for loose in [name == ("tsql" if "tsql" in found else "postgres") and not _has_hash(tokens)]
    ]
    sound = [reading for reading in readings if all(_is_balanced(part) for part in reading)]
    return sound or readings


def _dialects(text: str) -> Iterator[str]:
    yield "postgres"
    if "[" in text:
        yield "tsql"
    if re.search(r"[\\#`\"]|--|/\*", text):
        yield "mysql"
    if re.search(r"q'", text, re.IGNORECASE):
        yield "oracle"


def _has_hash(tokens: list[Token]) -> bool:
    """Return whether a ``#`` stands alone, as in a comment and unlike a temporary table's."""
    return any(token.low == "#" and not after.tight for token, after in pairwise(tokens))


def _split(tokens: list[Token]) -> Iterator[tuple[Token, ...]]:
    part: list[Token] = []
    for at, token in enumerate(tokens):
        last = at + 1 == len(tokens) or tokens[at + 1].first
        if token.low == ";" or (token.first and last and token.low in ("go", "/")):
            if part:
                yield tuple(part)
            part = []
        else:
            part.append(token)
    if part:
        yield tuple(part)


def _is_balanced(statement: Statement) -> bool:
    depth = 0
    for token in statement.tokens:
        depth += (token.low == "(") - (token.low == ")")
        if depth < 0:
            return False
    return depth == 0


def _with_inner(
    reading: list[Statement], known: dict[str, list[Statement]], depth: int
) -> Iterator[Statement]:
    runs = any(_is_dynamic(statement) for statement in reading)
    for statement in reading:
        yield statement
        for text in _inner(statement, runs) if depth else ():
            if text not in known:
                known[text] = []  # before the descent: a text may hold itself
                for inside in _readings(text):
                    known[text] += _with_inner(inside, known, depth - 1)
            for held in known[text]:
                yield held if held.outer else replace(held, outer=statement)


def _inner(statement: Statement, runs: bool) -> list[str]:
    """Return the texts in a statement's strings that the database may run."""
    kinds = {"string", "body"}
    head = statement.low(0)
    if head in _CLIENTS:
        kinds.add("name")
    elif head in ("create", "alter") and not statement.words.isdisjoint(_ROUTINES):
        kinds = {"body"} if "as" not in statement.words else kinds
    elif not _is_dynamic(statement) and head not in ("do", "delimiter"):
        assigns = head in ("set", "declare", "select") and runs
        kinds = kinds if assigns else set[str]()
    found = [decoded(token) for token in statement.tokens if token.kind in kinds | {"hex"}]
    if not kinds or not found:
        return []
    each = found if len(found) <= _STRINGS else ["\n;\n".join(found)]
    if len(found) < 2:
        return each
    whole = "".join(found)
    rest = "".join(found[1:])
    filled = [re.sub("%[sIL]", lambda _: rest, found[0])] if "format" in statement.words else []
    return [*each, whole, *filled]


def _is_dynamic(statement: Statement) -> bool:
    """Return whether a statement runs a text of its own."""
    if not statement.words.isdisjoint(_DYNAMIC):
        return True
    return any(
        token.low in _RUNNERS and statement.low(at + 1) == "("
        for at, token in enumerate(statement.tokens)
    )


def is_request(text: str) -> bool:
    return _REQUEST.match(text) is not None
