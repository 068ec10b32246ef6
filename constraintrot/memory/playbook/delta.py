"""Deltas, the small edits that a curator proposes, and their parsing from a model's answer.

::

    {"operations": [
      {"op": "ADD", "section": "email", "text": "Attach minutes as a PDF.", "kind": "strategy"},
      {"op": "UPDATE", "id": "ema-00003", "text": "Attach minutes as a PDF, not as a link."},
      {"op": "MERGE", "ids": ["ema-00003", "ema-00007"], "text": "..."},
      {"op": "DELETE", "id": "ema-00004"},
      {"op": "COUNT", "id": "ema-00003", "helpful": 1}
    ]}

A model's fault raises nothing: unreadable parts are listed, and the rest is used.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
)

from constraintrot.memory.playbook.bullets import DEFAULT_SECTION, KINDS, Kind
from constraintrot.rule_text.said import names_rule, reads_as_rule

MOST_OPERATIONS: Final = 200
"""The most operations that are read from one delta, which is meant as a small edit."""


def read_kind(word: object) -> Kind:
    """Return the kind that a model named; an unknown word for a rule means a constraint."""
    said = str(word).casefold()
    named = [kind for kind in KINDS if kind in said]
    # An unfilled form names all kinds.
    if len(named) == len(KINDS):
        return "strategy"
    if "constraint" in named or reads_as_rule(said) or names_rule(said):
        return "constraint"
    return named[0] if named else "strategy"


def says_something(text: str) -> bool:
    """Return whether a text has a letter or a digit; an unfilled form ("...") has neither."""
    return any(map(str.isalnum, text))


class _Operation(BaseModel):
    # A model may add a reason or a comment, which is ignored.
    model_config = ConfigDict(frozen=True, extra="ignore")


class Add(_Operation):
    """An operation that appends a bullet."""

    op: Literal["ADD"] = "ADD"
    text: str
    section: str = DEFAULT_SECTION
    kind: Annotated[Kind, BeforeValidator(read_kind)] = "strategy"


class Update(_Operation):
    """An operation that changes a bullet's text; its id and counters stay."""

    op: Literal["UPDATE"] = "UPDATE"
    id: str
    text: str


class Merge(_Operation):
    """An operation that joins bullets of one kind in the oldest one; counters are added up."""

    op: Literal["MERGE"] = "MERGE"
    ids: Annotated[tuple[str, ...], Field(min_length=2, max_length=20)]
    text: str


class Delete(_Operation):
    """An operation that removes a bullet."""

    op: Literal["DELETE"] = "DELETE"
    id: str


class Count(_Operation):
    """An operation that adds to a bullet's counters."""

    op: Literal["COUNT"] = "COUNT"
    id: str
    helpful: Annotated[int, Field(ge=0, le=1_000)] = 0
    harmful: Annotated[int, Field(ge=0, le=1_000)] = 0


Operation: TypeAlias = Add | Update | Merge | Delete | Count
_OPERATION: Final[TypeAdapter[Operation]] = TypeAdapter(
    Annotated[Operation, Field(discriminator="op")]
)
_OPENING: Final = re.compile(r"[\[{]")
_MOST_TRIES: Final = 100
# The names of the paper's public code for the same fields.
_SAME: Final = {"type": "op", "content": "text", "bullet_id": "id"}


@dataclass(frozen=True)
class Delta:
    """Operations in their order, and the parts of a model's answer that could not be parsed."""

    operations: tuple[Operation, ...] = ()
    unreadable: tuple[str, ...] = ()


def read_delta(text: str) -> Delta:
    """Parse the first JSON object with ``operations``, or list of them, in a model's answer."""
    for value in json_values(text):
        listed = _listed(value)
        if listed is not None:
            return _delta(listed)
    return Delta((), (f"no operations: {text[:120]!r}",))


def json_values(text: str) -> Iterator[Any]:
    """Yield the JSON objects and lists in a text, without the prose around them.

    Only the first hundred brackets are tried, because each try may read the rest of the text.
    """
    decoder = json.JSONDecoder()
    opening = _OPENING.search(text)
    for _ in range(_MOST_TRIES):
        if opening is None:
            return
        end = opening.end()
        try:
            value, end = decoder.raw_decode(text, opening.start())
            yield value
        except (ValueError, RecursionError):
            pass
        opening = _OPENING.search(text, end)


def _listed(value: Any) -> list[Any] | None:
    if isinstance(value, dict):
        inner = value.get("operations")
        return inner if isinstance(inner, list) else None
    listed: list[Any] = value
    return listed if any(isinstance(one, dict) for one in listed) else None


def _delta(listed: list[Any]) -> Delta:
    operations: list[Operation] = []
    unreadable: list[str] = []
    for one in listed[:MOST_OPERATIONS]:
        try:
            read = _OPERATION.validate_python(_named(one))
            if isinstance(read, Add | Update | Merge) and not says_something(read.text):
                unreadable.append(f"{str(one)[:120]}: the text has no word")
            else:
                operations.append(read)
        except ValidationError as error:
            unreadable.append(f"{str(one)[:120]}: {error.errors()[0]['msg']}")
    if (left := len(listed) - MOST_OPERATIONS) > 0:
        unreadable.append(f"{left} more operations than {MOST_OPERATIONS}")
    return Delta(tuple(operations), tuple(unreadable))


def _named(one: Any) -> Any:
    if not isinstance(one, Mapping):
        return one
    # Beside an "op", a model uses "type" for the kind.
    same = _SAME | {"type": "kind"} if "op" in one else _SAME
    plain = {same.get(str(key), str(key)): value for key, value in one.items()}
    if isinstance(plain.get("op"), str):
        plain["op"] = plain["op"].strip().upper()
    return plain
