"""Statements that destroy data or its structure, and their targets."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from constraintrot.grading.predicates._sql import Statement
from constraintrot.grading.predicates._sql_tokens import word_set

Name = tuple[str, ...]  # a dotted name's parts

_LOOK_AHEAD = 300  # tokens: a text of thousands of verbs must not take minutes

_KINDS = word_set(
    "table tables database schema view user role login sequence function procedure proc trigger"
    " type domain extension tablespace materialized event synonym package temporary temp external"
    " keyspace collection stream stage pipe task warehouse owned policy rule server publication"
    " subscription catalog assembly aggregate measurement series statistics graph namespace routine"
    " dynamic fulltext"
)
_KINDS_ALONE = _KINDS | {"index", "foreign", "if"}  # inside an ALTER, parts of a table
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
    """The object that a statement destroys: its databases and schemas, and its name, if any."""

    containers: Name = ()
    name: str = ""


def destroyed(statement: Statement) -> Iterator[tuple[int, Target]]:
    """Yield each object that a statement destroys, with its verb's index; nameless if unnamed."""
    if statement.only_plans:
        return
    reader = _Reader(statement)
    for at, sure in statement.starts:
        read = _VERBS.get(statement.low(at))
        for target in read(reader, at, sure) if read else ():
            yield at, target


def dotted(statement: Statement, at: int) -> tuple[Name, int]:
    return _Reader(statement).name(at)


class _Reader:
    """Reads names and clauses at any index of a statement."""

    def __init__(self, statement: Statement) -> None:
        self.tokens, self.low = statement.tokens, statement.low
        self.words = statement.words

    # Computed once per statement, because it may hold thousands of verbs.

    @cached_property
    def last_altered(self) -> int:
        """The last index where an ALTER drops something, or -1."""
        return self._last(
            lambda at: (
                (self.low(at), self.low(at + 1)) == ("delete", "where")
                or (
                    self.low(at) in ("drop", "truncate", "discard", "unused")
                    and self.low(at - 1) not in _COLUMN | {".", "@"}
                    and (self.part(at + 1)[0] != "" or self.low(at + 1) == "(")
                )
            )
        )

    @cached_property
    def last_merged(self) -> int:
        """The last index where a MERGE deletes, or -1."""
        return self._last(
            lambda at: (
                self.low(at) == "delete"
                and (self.low(at - 1) == "then" or self.low(at + 1) == "where")
            )
        )

    @cached_property
    def last_called(self) -> int:
        """The last index of a document store's destroying method, or -1."""
        return self._last(
            lambda at: (
                self.low(at) in _METHODS and self.low(at - 1) == "." and self.low(at + 1) == "("
            )
        )

    def _last(self, fits: Callable[[int], bool]) -> int:
        return max(filter(fits, range(len(self.tokens))), default=-1)

    def part(self, at: int) -> tuple[str, int]:
        """Return one part of a name, in any database's quotes, and the index after it."""
        tokens = self.tokens
        if self.low(at) in ("[", "`") and self.low(at + 2) in ("]", "`"):
            return tokens[at + 1].text, at + 3
        while self.low(at) in ("#", "@"):
            at += 1
        if at < len(tokens) and tokens[at].kind in ("word", "name", "string"):
            return tokens[at].text, at + 1
        return "", at

    def name(self, at: int) -> tuple[Name, int]:
        text, at = self.part(at)
        parts = [text] if text else []
        while parts and self.low(at) == ".":
            while self.low(at) == ".":  # two dots: the default schema
                at += 1
            text, at = self.part(at)
            at += not text and self.low(at) == "*"  # MySQL: DELETE t.* FROM t
            parts += [text] if text else []
        if parts and self.low(at) == "@":  # a table at the end of a database link
            text, at = self.part(at + 1)
            parts = [text, *parts]
        return tuple(parts), at

    def names(self, at: int) -> tuple[list[Name], int]:
        """Return the list of names after any noise words, and the index after it."""
        found: list[Name] = []
        at = self.skip(at)
        while len(found) < _LOOK_AHEAD:
            name, after = self.name(at)
            if not name or self.low(at) in _AFTER_TARGET:
                break
            found.append(name)
            at = after
            if self.low(at) != ",":
                break
            at += 1
        return found, at

    def skip(self, at: int) -> int:
        while True:
            if self.low(at) == "top":
                at = self.past_count(at + 1)
            elif self.low(at) in _NOISE and self.low(at + 1) != ".":
                at += 1
            else:
                return at

    def past_count(self, at: int) -> int:
        """Return the index after the ``(10) PERCENT`` of a TOP clause."""
        if self.low(at) == "(":
            at = next((end for end in range(at, at + 8) if self.low(end) == ")"), at)
        return at + 1 + (self.low(at + 1) == "percent")

    def targets(self, at: int) -> list[Target]:
        """Return the targets of a list of names; a nameless one if it is empty."""
        names, after = self.names(at)
        if self.low(after) == "on":
            names += self.names(after + 1)[0]
        return _targets(names)


def _targets(names: list[Name]) -> list[Target]:
    return [Target(name[:-1], name[-1]) for name in names] or [Target()]


def _drop(reader: _Reader, at: int, sure: bool) -> list[Target]:
    at += 1
    kind = reader.low(at)
    if kind == "prepare" or not reader.part(at)[0]:
        return []
    altered = at > 1 and "alter" in reader.words
    if (altered and kind not in _KINDS) or (not sure and kind not in _KINDS_ALONE):
        return []
    if kind in _CONTAINERS:
        names, _ = reader.names(at + 1)
        return [Target(name) for name in names] or [Target()]
    return reader.targets(at + (kind in _KINDS))


def _delete(reader: _Reader, at: int, sure: bool) -> list[Target]:
    after, head = reader.low(at + 1), at == 0
    named = reader.part(at + 1)[0] and after not in _NO_TARGET
    if at + 1 >= len(reader.tokens) or after in (".", "=", ")", ","):
        return []
    if not head and not named:
        return []
    if not sure and after not in ("from", "top", "only"):
        return []
    names, at = reader.names(at + 1)
    if reader.low(at) not in ("from", "using"):
        return _targets(names)
    tables = _aliases(reader, at + 1, by_table=reader.low(at) == "from")
    return _targets([tables.get(name[-1], name) if len(name) == 1 else name for name in names])


def _aliases(reader: _Reader, at: int, *, by_table: bool) -> dict[str, Name]:
    """Return the tables of a FROM clause by alias, and by their own last name if ``by_table``."""
    tables: dict[str, Name] = {}
    end = min(at + _LOOK_AHEAD, len(reader.tokens))
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


def _truncate(reader: _Reader, at: int, sure: bool) -> list[Target]:
    after = at + 1
    if after >= len(reader.tokens) or reader.low(after) in ("(", ")", ",", ".", "="):
        return []  # the function of that name: TRUNCATE(price, 1)
    return reader.targets(after) if sure or reader.low(after) == "table" else []


def _alter(reader: _Reader, at: int, sure: bool) -> list[Target]:
    kind = reader.low(at + 1)
    if reader.last_altered < at:
        return []
    names, _ = reader.names(at + 2 if kind in _CONTAINERS else at + 1)
    first = names[:1]
    return [Target(name) for name in first] if kind in _CONTAINERS else _targets(first)


def _create(reader: _Reader, at: int, sure: bool) -> list[Target]:
    """Return the targets of ``CREATE OR REPLACE TABLE``, whose earlier content is lost."""
    at += 1
    if (reader.low(at), reader.low(at + 1)) != ("or", "replace"):
        return []
    at += 2 + (reader.low(at + 2) in ("transient", "external"))
    if reader.low(at) in _CONTAINERS:
        return [Target(name) for name in reader.names(at + 1)[0]]
    return reader.targets(at) if reader.low(at) == "table" else []


def _replace(reader: _Reader, at: int, sure: bool) -> list[Target]:
    return reader.targets(at + 2) if reader.low(at + 1) == "table" else []


def _insert(reader: _Reader, at: int, sure: bool) -> list[Target]:
    return reader.targets(at + 1) if reader.low(at + 1) == "overwrite" else []


def _merge(reader: _Reader, at: int, sure: bool) -> list[Target]:
    return reader.targets(at + 1) if reader.last_merged > at else []


def _purge(reader: _Reader, at: int, sure: bool) -> list[Target]:
    return reader.targets(at + 1) if reader.low(at + 1) in _PURGED else []


def _command(reader: _Reader, at: int, sure: bool) -> list[Target]:
    if not sure:
        return []
    named = reader.tokens[at + 1 : at + _LOOK_AHEAD]
    return [Target(tuple(token.text for token in named if token.kind in ("word", "name")))]


def _document(reader: _Reader, at: int, sure: bool) -> list[Target]:
    """A document store's shell: ``db.orders.deleteMany({})``."""
    if not sure or reader.low(at + 1) not in (".", "["):
        return []
    if reader.last_called < at:
        return []
    quoted = (token.text for token in reader.tokens if token.kind in ("string", "name"))
    return [Target(tuple(islice(quoted, 1)) if "getsiblingdb" in reader.words else ())]


_VERBS = {
    "drop": _drop,
    "delete": _delete,
    "truncate": _truncate,
    "alter": _alter,
    "create": _create,
    "replace": _replace,
    "insert": _insert,
    "merge": _merge,
    "purge": _purge,
    "db": _document,
} | dict.fromkeys(_COMMANDS, _command)
