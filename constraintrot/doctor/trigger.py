"""A request that would break a rule, with the tools on offer; from a rules file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from constraintrot.errors import ConstraintRotError
from constraintrot.scenario import tool_files
from constraintrot.scenario.sections import Tool


class _Written(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    says: str = Field(min_length=3)
    tools: str | list[dict[str, Any]] = Field(min_length=1)


@dataclass(frozen=True)
class Trigger:
    """A request that cannot be done without breaking the rule.

    Attributes:
        says: what the user asks.
        tools: what the model is told of; nothing is ever executed.
    """

    says: str
    tools: tuple[Tool, ...]

    @property
    def characters(self) -> int:
        """The number of characters that are sent."""
        return len(self.says) + sum(
            len(one.name) + len(one.description) + len(str(one.parameters)) for one in self.tools
        )

    @classmethod
    def read(cls, told: Mapping[str, Any], where: str, folder: Path) -> Trigger:
        """From a rules file.

        Args:
            told: ``says``, and ``tools``: definitions, or the name of a file of them.
            where: what errors begin with.
            folder: of the rules file, where the tools' file is looked for.

        Raises:
            ConstraintRotError: it is no such request.
        """
        try:
            written = _Written.model_validate(told)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, ("trigger", *first["loc"])))
            raise ConstraintRotError(
                f"{where}: {place}: {first['msg']}; a trigger has says (a request), and tools"
                " (definitions of tools, or the name of a file of them)"
            ) from error
        if isinstance(written.tools, str):
            tools = tool_files.read(folder / written.tools)
        else:
            tools = tool_files.defined(written.tools, f"{where}: trigger.tools")
        return cls(" ".join(written.says.split()), tuple(tools))
