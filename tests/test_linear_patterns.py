r"""Patterns that read others' text take linear time: no two neighbouring repeats share a character.

Of ``\W*(?:please)?\W*`` each part of a line of marks can be the first's or the second's, so a
line of n marks takes n² steps before it fails.
"""

import re
import warnings
from collections.abc import Iterator, Sequence
from glob import glob
from importlib import import_module
from pathlib import Path
from re import _constants as kinds  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

import constraintrot

_MARKS = "éß文字１\u3000\u200b。：“”—·…"
_SAMPLE = frozenset([*map(chr, range(1, 127)), *_MARKS])
_CLASSES = {
    kinds.CATEGORY_DIGIT: r"\d", kinds.CATEGORY_NOT_DIGIT: r"\D", kinds.CATEGORY_SPACE: r"\s",
    kinds.CATEGORY_NOT_SPACE: r"\S", kinds.CATEGORY_WORD: r"\w", kinds.CATEGORY_NOT_WORD: r"\W",
}  # fmt: skip
_NOTHING = (kinds.AT, kinds.ASSERT, kinds.ASSERT_NOT)
_REPEATS = (kinds.MAX_REPEAT, kinds.MIN_REPEAT)
# A repeat of at most so many is no endless one.
_SHORT = 60

# What they read is short or the user's own, or the second repeat cannot fail.
SHORT = {
    "authoring.names", "authoring.orders", "authoring.places", "authoring.sentence",
    "coding_agents.install", "coding_agents.pins.owners", "defenses.rampart.seeds.markdown",
    "memory.wiki.frontmatter", "models.scripted.summarizers", "scenario.user_files",
    "grading.predicates._purchase_items",  # 300 characters
    "coding_agents.sessions.tools",  # 500 characters
    "rule_text.amounts",  # 200 characters
    "doctor.breaches",  # a rule; its names are of 200 characters at most
    "grading.predicates._regions", "grading.predicates.disables_audit",  # a few digits
    "tasks.probes._cells", "memory.wiki.page", "rule_text.survival.mentions",  # stop at each line
}  # fmt: skip


class Neighbours:
    """Characters that two neighbouring repeats of a pattern both take."""

    def __init__(self, pattern: "re.Pattern[str]") -> None:
        self.shared: set[str] = set()
        self._lines = bool(pattern.flags & re.MULTILINE)
        self._follow(parser.parse(pattern.pattern, pattern.flags), set())

    def _follow(self, nodes: Sequence[Any], open_: set[str]) -> set[str]:
        """Follow a sequence; ``open_`` are the characters of the repeats just before."""
        for kind, value in nodes:
            if kind in _REPEATS:
                least, most, inner = value
                if most is kinds.MAXREPEAT or most > _SHORT:
                    self.shared |= _first(inner) & open_
                    self._follow(inner, set())
                    open_ = _all(inner) | (open_ if least == 0 else set())
                else:
                    after = self._follow(inner, open_)
                    open_ = open_ | after if least == 0 else after
            elif kind is kinds.SUBPATTERN:
                open_ = self._follow(value[3], open_)
            elif kind is kinds.BRANCH:
                open_ = set[str]().union(*(self._follow(one, open_) for one in value[1]))
            elif kind is kinds.AT and value is kinds.AT_BEGINNING and self._lines:
                # Tried at each of many empty lines: what takes line breaks takes all of them.
                open_ = open_ | {"\n"}
            elif kind not in _NOTHING:
                open_ = set()
        return open_


def _characters(kind: Any, value: Any) -> set[str]:
    if kind is kinds.LITERAL:
        return {chr(value)}
    if kind is kinds.NOT_LITERAL:
        return set(_SAMPLE - {chr(value)})
    if kind is kinds.ANY:
        return set(_SAMPLE - {"\n"})
    found = set[str]()
    for inner, what in value if kind is kinds.IN else []:
        if inner is kinds.LITERAL:
            found.add(chr(what))
        elif inner is kinds.RANGE:
            found |= {chr(what[0])} | {one for one in _SAMPLE if what[0] <= ord(one) <= what[1]}
        elif inner is kinds.CATEGORY:
            found |= {one for one in _SAMPLE if re.match(_CLASSES[what], one)}
    negated = kind is kinds.IN and value[0][0] is kinds.NEGATE
    return set(_SAMPLE - found) if negated else found


def _inner(kind: Any, value: Any) -> list[Any] | None:
    """The sequences within a node, one of which is taken; None for a single character."""
    if kind in _REPEATS:
        return [value[2]]
    if kind is kinds.SUBPATTERN:
        return [value[3]]
    return list(value[1]) if kind is kinds.BRANCH else None


def _all(nodes: Sequence[Any]) -> set[str]:
    found = set[str]()
    for kind, value in nodes:
        if kind not in _NOTHING:
            inner = _inner(kind, value)
            found |= _characters(kind, value) if inner is None else set().union(*map(_all, inner))
    return found


def _first(nodes: Sequence[Any]) -> set[str]:
    found = set[str]()
    for kind, value in nodes:
        if kind in _NOTHING:
            continue
        inner = _inner(kind, value)
        if inner is None:
            return found | _characters(kind, value)
        found |= set().union(*map(_first, inner))
        if not (kind in _REPEATS and value[0] == 0):
            return found
    return found


def _patterns(value: object, depth: int = 0) -> Iterator["re.Pattern[str]"]:
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif depth < 3 and isinstance(value, tuple | list | dict):
        for one in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from _patterns(one, depth + 1)


def modules() -> Iterator[str]:
    """The modules that have patterns, by name; not those of frameworks, which take long to import."""
    (root,) = map(Path, constraintrot.__path__)
    for file in sorted(Path(one) for one in glob(f"{root}/**/*.py", recursive=True)):
        parts = file.relative_to(root).with_suffix("").parts
        if parts[0] != "harnesses" and "re.compile(" in file.read_text("utf-8"):
            yield ".".join(("constraintrot", *parts))


def quadratic() -> set[tuple[str, str]]:
    """The patterns with such neighbours, each with its module's name."""
    found = set[tuple[str, str]]()
    for name in modules():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                module = import_module(name)
        except Exception:  # an extra that is not installed
            continue
        for value in list(vars(module).values()):
            for pattern in _patterns(value):
                if Neighbours(pattern).shared:
                    found.add((name.removeprefix("constraintrot."), pattern.pattern[:60]))
    return found


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        *((r"^\W*(?:please )?\W*x", True), (r"\s*(?:not)?\s*a", True), (r"a+[ab]*c", True)),
        *((r".*?[ \t]*```", True), (r"(?:a|b*)[bc]+d", True), (r"\w+(?:-\w+)*\w+", True)),
        *((r"^\W*(?:(?:please )\W*)?x", False), (r"\s*a\s*", False), (r"\d+[a-z]+", False)),
        *((r"a{0,9}a*b", False), (r"[^a]*a[^a]*", False)),
        *((r"(?m)^\s*x", True), (r"(?m)^[ \t]*x", False), (r"^\s*x", False)),
    ],
)
def test_neighbours_are_found(pattern: str, expected: bool) -> None:
    assert bool(Neighbours(re.compile(pattern)).shared) is expected


def test_no_pattern_takes_quadratic_time_for_a_run_of_one_character() -> None:
    flagged = quadratic()
    assert {found for found in flagged if found[0] not in SHORT} == set()
    assert {name for name, _ in flagged} >= SHORT - {"memory.wiki.page"}
