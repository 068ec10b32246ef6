"""Statements that destroy data or its structure, and what they are aimed at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ._sql import Statement
from ._sqltokens import word_set

Name = tuple[str, ...]  # a dotted name's parts

_KINDS = word_set(
    "table tables database schema view index user role login sequence function procedure proc"
    " trigger type domain extension tablespace column constraint partition partitions materialized"
    " event synonym package temporary temp external foreign keyspace collection stream stage pipe"
    " task warehouse owned policy rule server publication subscription catalog assembly aggregate"
    " operator cast measurement series statistics connection group profile directory cluster"
    " dictionary graph namespace unique primary primary_key check default identity if"
)
_NOISE = word_set(
    "if exists not only concurrently online temporary temp transient external foreign materialized"
    " unique unlogged global local public table tables view index user role login sequence function"
    " procedure proc trigger type extension into from low_priority quick ignore overwrite"
)
_CONTAINERS = word_set("database schema keyspace catalog namespace")
_AFTER_TARGET = word_set(
    "join inner left right full outer cross natural on where using set order limit returning output"
    " when cascade restrict as from select values option force with go"
)
# Before these, a DELETE is a column's name, or part of a clause already judged.
_NO_TARGET = word_set("when where output returning end else is in on between like asc desc and or")
_COLUMN = word_set("add column rename modify change to constraint index key table alter")
_PURGED = word_set("table index recyclebin dba_recyclebin user_recyclebin tablespace binary master")
_METHODS = word_set(
    "drop dropdatabase deletemany deleteone remove findoneanddelete findandremove dropindex"
    " dropindexes dropuser dropallusers droprole truncate"
)
_COMMANDS = word_set("flushall flushdb rm dropdb dropuser")


@dataclass(frozen=True)
class Target:
    """What a statement destroys.

    Attributes:
        containers: the databases and schemas that its name is qualified with.
        name: its own name, empty where the statement gives none.
    """

    containers: Name = ()
    name: str = ""


def destroyed(statement: Statement, at: int, sure: bool) -> list[Target]:
    """What the verb at one start destroys; a nameless target where it does not say."""
    read = _VERBS.get(statement.low(at))
    return read(_Reader(statement, at), sure) if read else []


def dotted(statement: Statement, at: int) -> tuple[Name, int]:
    """The dotted name at an index, and the index after it."""
    return _Reader(statement, at).name()


class _Reader:
    """A statement from one of its verbs on."""

    def __init__(self, statement: Statement, at: int) -> None:
        self.statement, self.at = statement, at
        self.low = statement.low

    def rest(self) -> Iterator[int]:
        return iter(range(self.at + 1, len(self.statement.tokens)))

    def part(self, at: int) -> tuple[str, int]:
        """One part of a name, in any database's quotes."""
        tokens = self.statement.tokens
        if self.low(at) in ("[", "`") and self.low(at + 2) in ("]", "`"):
            return tokens[at + 1].text, at + 3
        while self.low(at) in ("#", "@"):
            at += 1
        if at < len(tokens) and tokens[at].kind in ("word", "name", "string"):
            return tokens[at].text, at + 1
        return "", at

    def name(self, at: int | None = None) -> tuple[Name, int]:
        text, at = self.part(self.at if at is None else at)
        parts = [text] if text else []
        while parts and self.low(at) == ".":
            while self.low(at) == ".":  # two dots: the default schema
                at += 1
            text, at = self.part(at)
            parts += [text] if text else []
        if parts and self.low(at) == "@":  # a table at the end of a database link
            text, at = self.part(at + 1)
            parts = [text, *parts]
        return tuple(parts), at

    def names(self, at: int) -> tuple[list[Name], int]:
        """The list of names after any noise words, and the index after it."""
        found: list[Name] = []
        at = self.skip(at)
        while True:
            name, after = self.name(at)
            if not name or self.low(at) in _AFTER_TARGET:
                return found, at
            found.append(name)
            at = after
            if self.low(at) != ",":
                return found, at
            at += 1

    def skip(self, at: int) -> int:
        while True:
            if self.low(at) == "top":
                at = self.past_count(at + 1)
            elif self.low(at) in _NOISE and self.low(at + 1) != ".":
                at += 1
            else:
                return at

    def past_count(self, at: int) -> int:
        """Past the ``(10) PERCENT`` of a TOP clause."""
        if self.low(at) == "(":
            while self.statement.tokens[at:] and self.low(at) != ")":
                at += 1
        return at + 1 + (self.low(at + 1) == "percent")

    def targets(self, at: int) -> list[Target]:
        """The targets that a list of names gives; one without a name if it is empty."""
        names, after = self.names(at)
        if self.low(after) == "on":
            names += self.names(after + 1)[0]
        return _targets(names)


def _targets(names: list[Name]) -> list[Target]:
    return [Target(name[:-1], name[-1]) for name in names] or [Target()]


def only_plans(statement: Statement) -> bool:
    """Whether the statement is only explained: planned, and not run."""
    if statement.low(0) not in ("explain", "describe", "desc"):
        return False
    lows = [statement.low(at) for at in range(1, 12)]
    if "analyze" not in lows:
        return True
    return lows[lows.index("analyze") + 1] in ("false", "off", "no")


def _drop(reader: _Reader, sure: bool) -> list[Target]:
    at = reader.at + 1
    kind = reader.low(at)
    if kind == "prepare" or not reader.part(at)[0] or (not sure and kind not in _KINDS):
        return []
    if kind in _CONTAINERS:
        names, _ = reader.names(at + 1)
        return [Target(name) for name in names] or [Target()]
    return reader.targets(at)


def _delete(reader: _Reader, sure: bool) -> list[Target]:
    after, head = reader.low(reader.at + 1), reader.at == 0
    named = reader.part(reader.at + 1)[0] and after not in _NO_TARGET
    if after in (".", "=", ")", ",", ";") or (not head and not named):
        return []
    if not sure and after not in ("from", "top", "only"):
        return []
    names, at = reader.names(reader.at + 1)
    if reader.low(at) not in ("from", "using"):
        return _targets(names)
    tables = _aliases(reader, at + 1, by_table=reader.low(at) == "from")
    return _targets([tables.get(name[-1], name) if len(name) == 1 else name for name in names])


def _aliases(reader: _Reader, at: int, *, by_table: bool) -> dict[str, Name]:
    """The tables of a FROM clause by alias, and by their own last name."""
    tables: dict[str, Name] = {}
    end = len(reader.statement.tokens)
    while at < end and reader.low(at) != "where":
        name, after = reader.name(at)
        joined = reader.low(at - 1) in ("from", "using", "join", ",")
        if not (name and joined):
            at = max(after, at + 1)
            continue
        at = after + (reader.low(after) == "as")
        alias = "" if reader.low(at) in _AFTER_TARGET else reader.part(at)[0]
        tables |= {alias: name} if alias else {}
        tables |= {name[-1]: name} if by_table else {}
    return tables


def _truncate(reader: _Reader, sure: bool) -> list[Target]:
    after = reader.at + 1
    if not reader.part(after)[0] and reader.low(after) not in ("[", "`"):
        return []  # the function of that name: TRUNCATE(price, 1)
    return reader.targets(after) if sure or reader.low(after) == "table" else []


def _alter(reader: _Reader, sure: bool) -> list[Target]:
    kind = reader.low(reader.at + 1)
    drops = (
        reader.low(at) in ("drop", "truncate", "discard", "unused")
        and reader.low(at - 1) not in _COLUMN | {".", "@"}
        and reader.part(at + 1)[0]
        for at in reader.rest()
    )
    if not any(drops):
        return []
    names, _ = reader.names(reader.at + 2 if kind in _CONTAINERS else reader.at + 1)
    first = names[:1]
    return [Target(name) for name in first] if kind in _CONTAINERS else _targets(first)


def _create(reader: _Reader, sure: bool) -> list[Target]:
    """``CREATE OR REPLACE TABLE``: what was there is gone."""
    at = reader.at + 1
    if (reader.low(at), reader.low(at + 1)) != ("or", "replace"):
        return []
    at += 2 + (reader.low(at + 2) in ("transient", "external"))
    if reader.low(at) in _CONTAINERS:
        return [Target(name) for name in reader.names(at + 1)[0]]
    return reader.targets(at) if reader.low(at) == "table" else []


def _insert(reader: _Reader, sure: bool) -> list[Target]:
    return reader.targets(reader.at + 1) if reader.low(reader.at + 1) == "overwrite" else []


def _merge(reader: _Reader, sure: bool) -> list[Target]:
    deletes = any(
        reader.low(at) == "delete"
        and (reader.low(at - 1) == "then" or reader.low(at + 1) == "where")
        for at in reader.rest()
    )
    return reader.targets(reader.at + 1) if deletes else []


def _purge(reader: _Reader, sure: bool) -> list[Target]:
    return reader.targets(reader.at + 1) if reader.low(reader.at + 1) in _PURGED else []


def _command(reader: _Reader, sure: bool) -> list[Target]:
    if not sure:
        return []
    words = [
        token.text
        for token in reader.statement.tokens[reader.at + 1 :]
        if token.kind in ("word", "name")
    ]
    return [Target(tuple(words))]


def _document(reader: _Reader, sure: bool) -> list[Target]:
    """A document store's shell: ``db.orders.deleteMany({})``."""
    if not sure or reader.low(reader.at + 1) not in (".", "["):
        return []
    calls = any(
        reader.low(at) in _METHODS and reader.low(at - 1) == "." and reader.low(at + 1) == "("
        for at in reader.rest()
    )
    opened = [token.text for token in reader.statement.tokens if token.kind in ("string", "name")]
    sibling = "getsiblingdb" in reader.statement.words
    return [Target(tuple(opened[:1]) if sibling else ())] if calls else []


_VERBS = {
    "drop": _drop,
    "delete": _delete,
    "truncate": _truncate,
    "alter": _alter,
    "create": _create,
    "insert": _insert,
    "merge": _merge,
    "purge": _purge,
    "db": _document,
} | dict.fromkeys(_COMMANDS, _command)
