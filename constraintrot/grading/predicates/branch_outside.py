"""A branch that is not an allowed one, however a call refers to it."""

import re

from constraintrot.grading.predicates._argument import OutsideOfList, decided, unreadable, worst
from constraintrot.rule_text.units import visible
from constraintrot.scenario.predicate import Finding, predicate
from constraintrot.scenario.values import texts

_BEFORE = re.compile(r"^(?:refs/)?(?:heads|remotes)/")
_BRANCH = re.compile(r"[\w#@+.-][\w#@+./*-]*")


@predicate("branch_outside")
class BranchOutside(OutsideOfList):
    """A Git branch that is none of ``allowed``, or one of ``forbidden``.

    ``origin/main``, ``refs/heads/main`` and ``HEAD:main`` are ``main``; the destination of a
    refspec counts.

    Attributes:
        allowed: branches; ``release/*`` stands for all below it.
        remotes: names of remotes that may precede a branch.
    """

    remotes: tuple[str, ...] = ("origin", "upstream")

    def judge(self, value: object) -> Finding:
        pieces = [piece for text in texts(value) for piece in re.split(r"[\s,;]+", visible(text))]
        named = [self._canonical(piece) for piece in pieces if piece.strip("'\"`")]
        if not named or not all(map(_BRANCH.fullmatch, named)):
            return unreadable(value, "a branch")
        return worst(self._judge(name) for name in named)

    def _judge(self, name: str) -> Finding:
        listed = any(
            self._is(name, self._canonical(one)) for one in self.allowed or self.forbidden or ()
        )
        if self.allowed is not None:
            return decided(not listed, name, "no allowed branch", "an allowed branch")
        return decided(listed, name, "a forbidden branch")

    def _is(self, name: str, one: str) -> bool:
        return name == one or (one.endswith("/*") and name.startswith(one[:-1]))

    def _canonical(self, written: str) -> str:
        name = _BEFORE.sub("", written.strip("'\"`").lstrip("+").rpartition(":")[2])
        for remote in self.remotes:
            name = name.removeprefix(f"{remote}/")
        return name
