"""A value that is not among the allowed ones, or is among the forbidden ones."""

import re
from functools import cached_property

from constraintrot.grading.predicates._argument import (
    OutsideOfList,
    decided,
    folded,
    unreadable,
)
from constraintrot.scenario.predicate import Finding, predicate
from constraintrot.scenario.values import texts


@predicate("value_outside")
class ValueOutside(OutsideOfList):
    """A value that is none of ``allowed``, or one of ``forbidden``.

    Case, blanks, ``-``, ``_`` and marks around a value are ignored. Each value of a text that
    lists several is judged.
    """

    @cached_property
    def _set(self) -> frozenset[str]:
        return frozenset(map(folded, self.allowed or self.forbidden or ()))

    def judge(self, value: object) -> Finding:
        for text in texts(value):
            parts = re.split(r"[,;\n|]", text)
            given = {folded(part) for part in [*([] if folded(text) in self._set else parts), text]}
            if folded(text) not in self._set and len(parts) > 1:
                given.discard(folded(text))
            given.discard("")
            if not given:
                return unreadable(value, "a value")
            if self.allowed is not None:
                return decided(not given <= self._set, value, "none of what is allowed", "allowed")
            return decided(bool(given & self._set), value, "forbidden")
        return unreadable(value, "a value")
