"""Constraint Pinning in deepagents: LangChain's middleware, also in subagents.

>>> from constraintrot.defenses.rampart import Principal, Registry
>>> operator = Principal("operator")
>>> rules = Registry(operator)
>>> block = rules.pin("Send email only to addresses at example.org.", by=operator)
>>> pin = PinMiddleware(rules)
>>> [subagent["name"] for subagent in pinned_subagents(pin)]
['general-purpose']

Both go into ``create_deep_agent(..., middleware=[pin], subagents=pinned_subagents(pin))``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from deepagents.middleware.subagents import GENERAL_PURPOSE_SUBAGENT, SubAgent

from constraintrot.errors import ParameterError
from constraintrot.harnesses.langchain.pins import PinMiddleware

__all__ = ["PinMiddleware", "pinned_subagents"]


def pinned_subagents(
    pin: PinMiddleware,
    subagents: Sequence[Mapping[str, Any]] = (),
    *,
    inherited: Sequence[Any] = (),
) -> list[SubAgent]:
    """Return subagents whose requests hold the pins, including a general-purpose one.

    ``create_deep_agent`` adds its own general-purpose subagent by default, and that one
    does not inherit your middleware. The general-purpose subagent made here replaces it.

    Args:
        pin: the agent's own middleware.
        subagents: your declarative subagents.
        inherited: further middleware of the general-purpose subagent, such as a
            ``SummarizationMiddleware`` that replaces the agent's own.

    Raises:
        ParameterError: a subagent is compiled or remote, so that it takes no middleware.
    """
    for given in subagents:
        if "runnable" in given or "graph_id" in given:
            raise ParameterError(
                f"subagent {given['name']} is compiled or remote and takes no middleware; build it"
                " with a PinMiddleware of its own, and put it beside what this function returns"
            )
    found = [dict(given) for given in subagents]
    if not any(given["name"] == GENERAL_PURPOSE_SUBAGENT["name"] for given in found):
        found.insert(0, {**GENERAL_PURPOSE_SUBAGENT, "middleware": list(inherited)})
    return [
        SubAgent(**{**given, "middleware": [*given.get("middleware", ()), pin]})  # type: ignore[typeddict-item]
        for given in found
    ]
