r"""User-written patterns, searched in time linear in the text: RE2, with Python's classes.

RE2 has no look-around and no back references, which is why its time is linear. ``\w``,
``\d`` and ``\s`` are Unicode classes here, as in Python; ``\b`` knows only ASCII, so it is
refused beside another letter, where it would silently find nothing. Without RE2 (the extras
``eval`` and ``doctor`` install it), Python's own engine searches a bounded part of the text,
and a repeat or a choice within an endless repeat is refused.
"""

import re
import warnings
from collections.abc import Iterator
from typing import Any, Final

from constraintrot.extras import installed

_LONGEST: Final = 2_000
_LOOKED_AT: Final = 20_000
_ENDLESS: Final = 100
_NOT_LINEAR: Final = ("ASSERT", "ASSERT_NOT", "GROUPREF", "GROUPREF_EXISTS")
_CLASSES: Final = {"w": r"\p{L}\p{N}\p{M}_", "d": r"\p{Nd}", "s": r"\s\p{Z}\x{85}"}
_CODES: Final = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")


class UserPattern:
    """A user's pattern.

    Args:
        source: the pattern as written.
        ignore_case: whether to ignore case.

    Raises:
        ValueError: it is not a pattern, or needs more than linear time.
    """

    def __init__(self, source: str, *, ignore_case: bool = False) -> None:
        self.source = source
        if len(source) > _LONGEST:
            raise ValueError(f"a pattern has at most {_LONGEST:,} characters")
        self._linear = installed("re2")
        with warnings.catch_warnings():
            # Warnings about syntax that a later Python will read differently.
            warnings.simplefilter("ignore", FutureWarning)
            try:
                python = re.compile(source, re.IGNORECASE if ignore_case else 0)
                compiled = _linear(source, ignore_case) if self._linear else _bounded(python)
            except (re.error, RecursionError, OverflowError) as error:
                raise ValueError(f"{source!r} is no regular expression: {error}") from error
        self._compiled: Any = compiled

    def search(self, text: str) -> str | None:
        """Return the pattern's first match in a text; None if there is no match."""
        found = self._compiled.search(self._looked_at(text))
        return None if found is None else str(found[0])

    def fullmatch(self, text: str) -> bool:
        """Return whether the whole text matches."""
        return self._compiled.fullmatch(self._looked_at(text)) is not None

    def _looked_at(self, text: str) -> str:
        return text.encode("utf-8", "replace").decode() if self._linear else text[:_LOOKED_AT]


def _linear(source: str, ignore_case: bool) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    try:
        return re2.compile(_translated(source), options)
    except re2.error as error:
        said = error.args[0]
        told = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
        raise ValueError(f"{source!r} is no pattern that takes linear time: {told}") from error


def _translated(source: str) -> str:
    """Return a Python pattern in RE2's syntax."""
    several_lines = re.search(r"\(\?[a-zA-Z]*m", source) is not None
    made: list[str] = []
    at = 0
    while at < len(source):
        sign, step = source[at], 1
        if sign == "[":
            sign, step = _brackets(source, at)
        elif sign == "\\":
            sign, step = _escaped(source, at)
        elif sign == "$" and not several_lines:
            sign = r"(?:\n?\z)"
        made.append(sign)
        at += step
    return "".join(made)


def _brackets(source: str, start: int) -> tuple[str, int]:
    """Return the translated class at a bracket and its length; negated ones are alternatives."""
    at = start + 1 + (source[start + 1 : start + 2] == "^")
    negated, first = at > start + 1, at
    inside: list[str] = []
    without: list[str] = []
    while at < len(source) and (source[at] != "]" or at == first):
        sign, step = source[at], 1
        if sign == "\\" and source[at + 1 : at + 2] in ("W", "D", "S"):
            without.append(f"[^{_CLASSES[source[at + 1].casefold()]}]")
            sign, step = "", 2
        elif sign == "\\":
            sign, step = _escaped(source, at, within=True)
        elif sign == "[":
            sign = r"\["
        inside.append(sign)
        at += step
    if without and negated:
        raise ValueError(f"{source[start : at + 1]!r}: write what it stands for")
    body = f"[{'^' if negated else ''}{''.join(inside)}]" if any(inside) else ""
    one_of = "|".join(part for part in (body, *without) if part)
    return (f"(?:{one_of})" if without else one_of), at + 1 - start


def _escaped(source: str, at: int, *, within: bool = False) -> tuple[str, int]:
    """Return the translation of an escape sequence, and the sequence's length."""
    if code := _CODES.match(source, at):
        return rf"\x{{{code[1] or code[2]}}}", code.end() - at
    letter = source[at + 1 : at + 2]
    if letter.casefold() in _CLASSES:
        inner = _CLASSES[letter.casefold()]
        return (inner if within else f"[{'^' if letter.isupper() else ''}{inner}]"), 2
    if letter == "Z":
        return r"\z", 2
    if letter == "b" and within:
        return r"\x08", 2
    beside = source[max(0, at - 1) : at] + source[at + 2 : at + 3]
    if letter in ("b", "B") and not beside.isascii():
        raise ValueError(
            f"\\{letter} beside {beside!r}: it knows the letters of ASCII only; leave it out, or"
            r" write (?:^|\W) and (?:\W|$)"
        )
    return source[at : at + 2], 2


def _bounded(python: re.Pattern[str]) -> re.Pattern[str]:
    parsed: Any = re._parser.parse(python.pattern)  # type: ignore[attr-defined]  # nothing public parses
    if any(str(kind) in _NOT_LINEAR for kind, _ in _nodes(parsed)):
        raise ValueError(f"{python.pattern!r} is no pattern that takes linear time")
    if any(_repeats(inner) for inner in _repeated(parsed)):
        raise ValueError(f"{python.pattern!r} has a repeat, or a choice, within a repeat")
    return python


def _repeated(parsed: Any) -> Iterator[Any]:
    """Yield the repeated part of each endless repeat in a parsed pattern."""
    for kind, given in _nodes(parsed):
        if str(kind) in ("MAX_REPEAT", "MIN_REPEAT") and int(given[1]) > _ENDLESS:
            yield given[2]


def _repeats(parsed: Any) -> bool:
    return any(
        str(kind) == "BRANCH" or (str(kind) in ("MAX_REPEAT", "MIN_REPEAT") and int(given[1]) > 1)
        for kind, given in _nodes(parsed)
    )


def _nodes(parsed: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every node of a parsed pattern, including nested ones."""
    waiting = [parsed]
    while waiting:
        item = waiting.pop()
        # A node is a pair of its kind, which is a named number, and its content.
        if isinstance(item, tuple) and len(item) == 2 and hasattr(item[0], "name"):
            yield item
        if isinstance(item, tuple | list) or hasattr(item, "data"):
            waiting.extend(item)
