"""Breaches of a rule by a call: a pattern on its arguments, or a registered predicate."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator

from constraintrot.coding_agents.sessions.events import Call
from constraintrot.errors import ConstraintRotError
from constraintrot.patterns import UserPattern
from constraintrot.scenario.predicate import Predicate, predicate_from

# A call may write a whole file; a pattern is looked for in so much of it.
_LONGEST = 200_000


Written: TypeAlias = Annotated[UserPattern, BeforeValidator(lambda given: UserPattern(str(given)))]


class Pattern(BaseModel):
    """A call that breaks a rule, by regular expressions.

    Attributes:
        tool: what the whole name of the tool matches; any tool by default.
        argument: the argument that is read; all of them by default.
        matches: what is found in the arguments of a call that breaks the rule.
        unless: what is found in the arguments of one that does not, all the same.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    tool: Written | None = None
    argument: str = ""
    matches: Written | None = None
    unless: Written | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Pattern:
        if self.tool is None and self.matches is None:
            raise ValueError("give tool, matches, or both")
        return self

    def broken_by(self, call: Call) -> str:
        """Why a call breaks the rule; empty if it does not."""
        if self.tool is not None and not self.tool.fullmatch(call.function):
            return ""
        text = _text(call.arguments, self.argument)
        if self.unless is not None and self.unless.search(text) is not None:
            return ""
        if self.matches is None:
            return f"{call.function} was called"
        found = self.matches.search(text)
        return "" if found is None else f"{call.function}: {found[:200]}"


@dataclass(frozen=True)
class Breach:
    """The test that tells whether a call breaks a rule: one of the two.

    Attributes:
        pattern: regular expressions.
        predicate: one that scenario files name by ``type``.
    """

    pattern: Pattern | None = None
    predicate: Predicate | None = None

    @classmethod
    def read(cls, told: Mapping[str, Any], where: str) -> Breach:
        """From a rules file.

        Raises:
            ConstraintRotError: it is neither a pattern nor a predicate; it begins with ``where``.
        """
        try:
            if "type" in told:
                return cls(predicate=predicate_from(told))
            return cls(pattern=Pattern.model_validate(told))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, ("breach", *first["loc"])))
            raise ConstraintRotError(f"{where}: {place}: {first['msg']}") from error
        except ConstraintRotError as error:
            raise ConstraintRotError(f"{where}: breach: {error}") from error

    def broken_by(self, call: Call) -> str:
        """Why a call breaks the rule; empty if it does not."""
        if self.pattern is not None:
            return self.pattern.broken_by(call)
        if self.predicate is None:
            return ""
        finding = self.predicate.check(call.function, call.arguments)
        return finding.reason if finding.status == "violates" else ""


def _text(arguments: Mapping[str, Any], name: str) -> str:
    value: Any = arguments.get(name, "") if name else arguments
    if isinstance(value, str):
        return value[:_LONGEST]
    if isinstance(value, Mapping) and all(isinstance(one, str) for one in value.values()):
        return "\n".join(value.values())[:_LONGEST]
    return json.dumps(value, ensure_ascii=False, default=str)[:_LONGEST]
