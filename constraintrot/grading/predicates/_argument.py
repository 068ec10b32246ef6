"""The base classes of the declarative predicates: the tools and arguments they apply to."""

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Self, TypeAlias
from urllib.parse import unquote

from pydantic import BeforeValidator, Field, model_validator

from constraintrot.rule_text.units import visible
from constraintrot.scenario.predicate import Finding, Predicate, clear, malformed, plain, violates
from constraintrot.scenario.values import leaves, shown, spelled


def _several(given: object) -> object:
    return given if isinstance(given, list | tuple) else [given]


# One value or a list, so that a file need not write a list of one.
Names: TypeAlias = Annotated[
    tuple[Annotated[str, Field(min_length=1)], ...], BeforeValidator(_several), Field(min_length=1)
]


class OnArgument(Predicate):
    """A predicate on the values of one argument, or of several that mean the same.

    Attributes:
        argument: the argument's name; ``customer.address`` is nested.
        function: the tools it applies to; None for all of the scenario's tools.
    """

    argument: Names
    function: Names | None = None
    missing: Annotated[str, Field(pattern="^(malformed|clear|violates)$")] = "malformed"

    def check(self, function: str, arguments: Mapping[str, Any]) -> Finding:
        if not self.concerns(function):
            return clear("The policy is not about this tool.")
        values = list(self.values(arguments))
        if not values:
            return Finding(self.missing, f"The call gives no {self.argument[0]}.")  # type: ignore[arg-type]  # by its pattern
        return worst(self.judge(value) for value in values)

    @abstractmethod
    def judge(self, value: object) -> Finding:
        """Return the finding on one value, which is neither a list nor a mapping."""

    def concerns(self, function: str) -> bool:
        return self.function is None or function in self.function

    def values(self, arguments: Mapping[str, Any]) -> Iterator[object]:
        """Yield the arguments' values, taken out of lists and JSON text, without empty ones."""
        for name in self.argument:
            for value in leaves(_at(arguments, name.split("."))):
                nested = spelled(value) if isinstance(value, str) else None
                for leaf in leaves(nested) if nested is not None else [value]:
                    if leaf is not None and not (isinstance(leaf, str) and not leaf.strip()):
                        yield leaf


class OutsideOfList(OnArgument):
    """A predicate on values: only the ``allowed`` are permitted, or all but the ``forbidden``."""

    allowed: Names | None = None
    forbidden: Names | None = None

    @model_validator(mode="after")
    def _one_list(self) -> Self:
        if (self.allowed is None) == (self.forbidden is None):
            raise ValueError("give either allowed or forbidden")
        return self


def worst(findings: Iterable[Finding]) -> Finding:
    """Return the first finding that violates, else the first malformed, else the first one."""
    found = list(findings)
    for status in ("violates", "malformed"):
        for one in found:
            if one.status == status:
                return one
    return found[0]


def decided(outside: bool, value: object, bad: str, good: str = "") -> Finding:
    """Return a finding about a value; without ``good`` a permitted one is called "not ``bad``"."""
    if outside:
        return violates(f"{shown(value)} is {bad}.")
    return clear(f"{shown(value)} is {good or f'not {bad}'}.")


def unreadable(value: object, what: str) -> Finding:
    """Return the finding on a value that cannot be read as a number, a date, a path ..."""
    return malformed(f"{shown(value)} cannot be read as {what}.")


def folded(value: object) -> str:
    """Return a value for comparison, without case, blanks, ``-``, ``_`` and surrounding marks."""
    text = plain(visible(str(value))).strip(" \"'`.,;:()[]<>")
    return re.sub(r"[\s_-]+", "-", text)


def readings(text: str) -> list[str]:
    """Return a text, and its URL-decoded forms, up to three times decoded."""
    found = [visible(text)]
    for _ in range(3):
        decoded = unquote(found[-1])
        if decoded == found[-1]:
            break
        found.append(decoded)
    return found


# What a value is said not to be: "a (not b)", "a instead of b", "a (requested: b)".
_ASIDE = re.compile(
    r"[(\[（]\s*(?:(?:not|no|instead|rather|requested|asked|was|formerly|previously|originally|except"
    r"|without|nicht|keine?|statt|anstatt|gewünscht|en vez|en lugar|sin)\b|pedid|solicitad|不|而|非(?!洲)|原)"
    r"[^()\[\]（）]*[)\]）]|(?:而不是|而非|不是)[^,;，；()（）\n]*"
    r"|(?:^|(?<=[\s,;—–]))(?:not(?! only| just)|nicht(?! nur)|no(?! sol[oó])|instead of|rather than|statt"
    r"|anstatt|en vez de|en lugar de)\s[^,;()（）\n]*",
    re.I,
)


def without_asides(text: str) -> str:
    """A value without what it says that it is not, or no longer, or was only asked to be."""
    return _ASIDE.sub(" ", text)


def _at(arguments: object, parts: Sequence[str]) -> object:
    """Return the value of a dotted name, compared without case, ``-`` and ``_``."""
    for at, part in enumerate(parts):
        if isinstance(arguments, str):
            arguments = spelled(arguments)
        if isinstance(arguments, list | tuple):
            return [_at(item, parts[at:]) for item in arguments]
        if not isinstance(arguments, Mapping):
            return None
        wanted = folded(part)
        held = [value for name, value in arguments.items() if folded(name) == wanted]
        arguments = held[0] if len(held) == 1 else held or None
    return arguments
