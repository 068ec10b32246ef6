"""A text that matches a forbidden pattern, or lacks a required one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from pydantic import field_validator, model_validator

from constraintrot.grading.predicates._argument import OnArgument, decided, readings, unreadable
from constraintrot.scenario.predicate import Finding, plain, predicate
from constraintrot.scenario.values import texts

_LONGEST = 20_000
_ENDLESS = 100


@predicate("text_matching")
class TextMatching(OnArgument):
    """A text in which ``forbidden`` matches, or in which ``required`` does not.

    Both are regular expressions, without regard to case, on the text with its blanks
    and invisible signs folded and its URL escapes undone. A repeat within a repeat is
    refused: on some text it never ends.
    """

    forbidden: str | None = None
    required: str | None = None

    @field_validator("forbidden", "required")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        if pattern is None:
            return None
        try:
            parsed: Any = re._parser.parse(pattern)  # type: ignore[attr-defined]  # nothing public parses
        except re.error as error:
            raise ValueError(f"{pattern!r} is no regular expression: {error}") from error
        if any(_repeats(inner) for _, inner in _repeated(parsed)):
            raise ValueError(f"{pattern!r} has a repeat, or a choice, within a repeat")
        return pattern

    @model_validator(mode="after")
    def _one(self) -> TextMatching:
        if (self.forbidden is None) == (self.required is None):
            raise ValueError("give either forbidden or required")
        return self

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(self.forbidden or self.required or "", re.IGNORECASE)

    def judge(self, value: object) -> Finding:
        whole = "\n".join(texts(value))
        if not whole or len(whole) > _LONGEST:
            return unreadable(value, "a text of that length")
        found = any(
            self._pattern.search(form) for text in readings(whole) for form in (text, plain(text))
        )
        if self.required is not None:
            return decided(not found, value, f"without {self.required!r}")
        return decided(found, value, f"a match of {self.forbidden!r}")


def _repeated(parsed: Any) -> Iterator[tuple[str, Any]]:
    """Every endless repeat in a parsed pattern, with what it repeats."""
    for kind, given in _nodes(parsed):
        name = str(kind)
        if name in ("MAX_REPEAT", "MIN_REPEAT") and int(given[1]) > _ENDLESS:
            yield name, given[2]


def _repeats(parsed: Any) -> bool:
    return any(
        str(kind) == "BRANCH" or (str(kind) in ("MAX_REPEAT", "MIN_REPEAT") and int(given[1]) > 1)
        for kind, given in _nodes(parsed)
    )


def _nodes(parsed: Any) -> Iterator[tuple[Any, Any]]:
    """Every node of a parsed pattern, those within others too."""
    waiting = [parsed]
    while waiting:
        item = waiting.pop()
        # A node is a pair of its kind, which is a named number, and what it holds.
        if isinstance(item, tuple) and len(item) == 2 and hasattr(item[0], "name"):
            yield item
        if isinstance(item, tuple | list) or hasattr(item, "data"):
            waiting.extend(item)
