"""Constraint Pinning in deepagents: LangChain's middleware, and subagents that have it too.

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
    """Subagents whose requests hold the pins, the general-purpose one among them.

    ``create_deep_agent`` adds a general-purpose subagent where none is given, and
    that one inherits no middleware of yours but what takes the place of its own.
    So one is given here, which replaces it.

    Args:
        pin: the agent's own.
        subagents: your declarative ones.
        inherited: what the general-purpose subagent is to have beside the pins, as
            a ``SummarizationMiddleware`` that replaces the agent's own.

    Raises:
        ParameterError: one is compiled or remote, so that it takes no middleware.
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
