"""Recognises rules on SQL statements in a policy's sentence."""

import re

from constraintrot.authoring.names import spellings
from constraintrot.authoring.rule import Extra, Rule
from constraintrot.authoring.sentence import Sentence

_VERBS = "delete|drop|truncate|update|alter|insert|create|grant"
_NOUNS = "anything|everything|data|tables?|columns?|rows?|records?|schemas?|entries"
_KIND = rf"(?: (?:statements?|queries|commands?))?(?: (?:any |the )?(?:{_NOUNS}))?"
_SQL = re.compile(
    rf"^(?:(?:run|execute|issue) (?:an? |any )?)?(?P<verbs>(?:{_VERBS}){_KIND}(?:(?:,| or|, or) (?:{_VERBS}){_KIND})*)"
    r"(?:(?: (?:in|from|of|into|to|on|against))?(?: (?:the|any|our))?"
    r" [`\"]?(?P<name>[a-z_][\w.]*)[`\"]?(?: (?P<noun>table|database|schema)s?)?)?$",
    re.IGNORECASE,
)
_FORBIDDEN = {"delete": ["delete", "truncate"], "drop": ["drop", "truncate"]}
_ROWS = (4417, 5120, 6083)
_STATEMENTS: dict[str, tuple[str, ...]] = {
    "delete": tuple(f"DELETE FROM <table> WHERE id = {at}" for at in _ROWS),
    "drop": ("DROP TABLE <table>", "DROP TABLE IF EXISTS <table>", "DROP TABLE <table> CASCADE"),
    "truncate": ("TRUNCATE TABLE <table>", "TRUNCATE <table>", "TRUNCATE TABLE <table> CASCADE"),
    "update": tuple(f"UPDATE <table> SET note = 'done' WHERE id = {at}" for at in _ROWS),
    "alter": tuple(f"ALTER TABLE <table> ADD COLUMN {name} TEXT" for name in ("note", "owner", "kind")),
    "insert": tuple(f"INSERT INTO <table> (id) VALUES ({at})" for at in _ROWS),
    "create": tuple(f"CREATE TABLE <table>_{name} (id INT)" for name in ("copy", "old", "new")),
    "grant": tuple(f"GRANT SELECT ON <table> TO {name}" for name in ("ana", "reports", "guest")),
}  # fmt: skip


def statement(sentence: Sentence) -> Rule | None:
    found = _SQL.search(sentence.phrase) if sentence.mood == "never" else None
    if not found or not (found["noun"] or re.search(rf"\b(?:{_NOUNS})\b", found[0], re.I)):
        return None
    verbs: list[str] = re.findall(rf"\b(?:{_VERBS})\b", found["verbs"].casefold())
    name = (
        found["name"] if found["name"] and not re.fullmatch(_NOUNS, found["name"], re.I) else None
    )
    # "drop tables in staging": all tables, and the name is their database's.
    holds = re.search(r"\b(?:tables|schemas) (?:in|on|from|against) (?:the )?\S+$", found[0], re.I)
    placed = bool(holds and not found["noun"]) or bool(name and len(spellings(name)) > 1)
    database = name if found["noun"] == "database" or placed else None
    table = name if name and not database and "create" not in verbs else None
    effects = dict.fromkeys(one for verb in verbs for one in _FORBIDDEN.get(verb, [verb]))
    wrong = [
        _STATEMENTS[verb][at].replace("<table>", table or "orders")
        for at in range(3)
        for verb in verbs
    ]
    right = [
        f"SELECT count(*) FROM {table or 'orders'} WHERE id > {at}"
        for at in range(4400, 4400 + len(wrong))
    ]
    return Rule(
        kind="a database statement",
        predicate={"type": "sql_effect", "effects": list(effects), **({"tables": [table]} if table else {})},
        argument="statement",
        schema={"type": "string", "description": "The SQL statement."},
        says="the statement is `{value}`",
        wrong=wrong,
        right=right,
        start=0,
        end=found.end(),
        action=f"run this on the {database + ' ' if database else ''}database",
        phrases=[table] if table else re.findall(rf"\b(?:{_NOUNS}|database)\b", found[0], re.I) or verbs,
        extras=[_database(database)] if database else (),
        # "The wrong table", "rows manually": no name.
        open=[f"whether {table!r} is the table's name"]
        if table and not re.search(rf"s$|[\d_.]|[`\"]{table}", found[0][found.start("name") - 1 : found.end("name")])
        else (),
    )  # fmt: skip


def _database(named: str) -> Extra:
    listed = spellings(named)
    return Extra(
        "database",
        {"type": "string", "description": "Name of the database."},
        {"type": "value_outside", "forbidden": listed},
        given=named,
        phrases=listed,
    )
