"""A text that matches a forbidden pattern, or lacks a required one."""

from __future__ import annotations

from functools import cached_property

from pydantic import field_validator, model_validator

from constraintrot.grading.predicates._argument import OnArgument, decided, readings, unreadable
from constraintrot.patterns import UserPattern
from constraintrot.rule_text.survival.mentions import blanks_folded
from constraintrot.scenario.predicate import Finding, plain, predicate
from constraintrot.scenario.values import texts

_LONGEST = 20_000


@predicate("text_matching")
class TextMatching(OnArgument):
    """A text in which ``forbidden`` matches, or in which ``required`` does not.

    Both are regular expressions that ignore case, except within ``(?-i:...)``. They are searched
    in the text and in its forms with blanks and invisible signs folded and URL escapes undone, in
    linear time (``constraintrot.patterns``), so look-around and back references are refused.
    """

    forbidden: str | None = None
    required: str | None = None

    @field_validator("forbidden", "required")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            UserPattern(pattern)
        return pattern

    @model_validator(mode="after")
    def _one(self) -> TextMatching:
        if (self.forbidden is None) == (self.required is None):
            raise ValueError("give either forbidden or required")
        return self

    @cached_property
    def _pattern(self) -> UserPattern:
        return UserPattern(self.forbidden or self.required or "", ignore_case=True)

    def judge(self, value: object) -> Finding:
        whole = "\n".join(texts(value))
        if not whole or len(whole) > _LONGEST:
            return unreadable(value, "a text of that length")
        # A pattern with (?-i:...) needs a text that keeps its case.
        fold = blanks_folded if "(?-i" in self._pattern.source else plain
        found = any(
            self._pattern.search(form) is not None
            for text in readings(whole)
            for form in (text, fold(text))
        )
        if self.required is not None:
            return decided(not found, value, f"without {self.required!r}")
        return decided(found, value, f"a match of {self.forbidden!r}")
