"""Layers that offer the tools a request needs, or meta-tools for a large catalogue.

Pruning only saves tokens: a model may still reach a pruned tool by ``execute_tool``. A tool that
must not be used is ``withheld``: it is never offered, and any call of it is stopped, direct or by
``execute_tool``.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar, Final, TypeAlias

from inspect_ai.model import ModelOutput
from inspect_ai.tool import ToolCall, ToolInfo, ToolParams
from inspect_ai.util import JSONSchema

from constraintrot.errors import ParameterError
from constraintrot.memory.pipeline.context import Context, definition, tool_tokens
from constraintrot.memory.pipeline.layer import Layer, Ran, with_message
from constraintrot.rule_text.quantities import words

# Above the first number tools are pruned, above the second meta-tools are offered.
ABOVE: Final = 15
META_ABOVE: Final = 100
EXECUTE, SEARCH, SCHEMA = "execute_tool", "search_tools", "get_tool_schema"
# A function from a request and a tool to their fit; higher is better.
Relevance: TypeAlias = Callable[[str, ToolInfo], float]


def by_words(query: str, tool: ToolInfo) -> float:
    """Return the share of a tool's words that the request has; words of the name count twice."""
    asked = _words(query)
    name, told = _words(tool.name.replace("_", " ")), _words(tool.description)
    return (2 * len(name & asked) + len(told & asked)) / (2 * len(name) + len(told) or 1)


@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    return frozenset(words(text))


class _ToolLayer(Layer):
    """A layer that offers some of the tools."""

    _above: ClassVar[int]

    def __init__(
        self,
        core: Collection[str] = (),
        *,
        withheld: Collection[str] = (),
        above: int | None = None,
        relevance: Relevance = by_words,
    ) -> None:
        for name, given in (("core", core), ("withheld", withheld)):
            if isinstance(given, str):
                raise ParameterError(f"{name} is several names, as ({given!r},), not {given!r}")
        self.core, self.withheld = frozenset(core), frozenset(withheld)
        self.above = self._above if above is None else above
        self.relevance = relevance


class ToolPruning(_ToolLayer):
    """A layer that offers the core tools and those that fit the request best, ordered by name.

    Args:
        core: names of tools that are always on offer.
        withheld: names of tools that must not be used.
        above: the number of tools above which some are pruned.
        relevance: the fit of a tool and a request; by words by default.
    """

    name = "tools"
    _above = ABOVE

    async def run(self, context: Context) -> Ran:
        allowed = [tool for tool in context.tools if tool.name not in self.withheld]
        kept = allowed if len(allowed) <= self.above else self._chosen(context, allowed)
        if len(kept) == len(context.tools):
            return context, {}
        names = {tool.name for tool in kept}
        gone = [tool.name for tool in context.tools if tool.name not in names]
        return replace(context, tools=tuple(kept)), {"pruned": gone}

    def _chosen(self, context: Context, tools: Sequence[ToolInfo]) -> list[ToolInfo]:
        budget = context.budget
        core = self.core | {context.chosen}
        kept = [tool for tool in tools if tool.name in core]
        used = sum(map(tool_tokens, kept))
        rest = [tool for tool in tools if tool.name not in core]
        query = context.query
        rest.sort(key=lambda tool: (-self.relevance(query, tool), tool.name))
        for tool in rest:
            if len(kept) >= budget.most_tools or used + tool_tokens(tool) > budget.tools:
                break
            kept.append(tool)
            used += tool_tokens(tool)
        return sorted(kept, key=lambda tool: tool.name)

    def answered(self, context: Context, output: ModelOutput) -> ModelOutput:
        """Stop calls of withheld tools, which a model may make without being offered them."""
        return stopped(output, self.withheld)


class MetaTools(_ToolLayer):
    """A layer that offers a large catalogue as three meta-tools: search, schema and execute.

    A call by ``execute_tool`` leaves this layer under the tool's own name, so that an approver sees
    the real call. A call of a withheld or unknown tool is stopped. Put this before ``ToolPruning``,
    whose arguments it has.
    """

    name = "meta_tools"
    _above = META_ABOVE

    async def run(self, context: Context) -> Ran:
        if len(context.tools) <= self.above:
            return context, {}
        names = (self.core | {context.chosen}) - self.withheld
        core = [tool for tool in context.tools if tool.name in names]
        kept = (*core, *META)
        return replace(context, tools=kept), {"hidden": len(context.tools) - len(core)}

    def answered(self, context: Context, output: ModelOutput) -> ModelOutput:
        """Give calls through ``execute_tool`` their own names, and stop the withheld ones."""
        if len(context.tools) <= self.above:
            return stopped(output, self.withheld)
        known = {tool.name for tool in context.tools} - self.withheld
        message = output.message
        calls = [_unwrapped(call) for call in message.tool_calls or []]
        through = [call for call in calls if call.function in known or call.function in _LOOKING]
        gone = [call.function for call in calls if call not in through]
        return _with_calls(output, through, gone) if calls else output

    def look_up(self, tools: Sequence[ToolInfo], call: ToolCall) -> str | None:
        """Return the result of ``search_tools`` or ``get_tool_schema``; None for another call."""
        open_to = [tool for tool in tools if tool.name not in self.withheld]
        if call.function == SEARCH:
            limit = call.arguments.get("limit", 5)
            most = limit if isinstance(limit, int) and 0 < limit <= 20 else 5
            query = str(call.arguments.get("query", ""))
            open_to.sort(key=lambda tool: (-self.relevance(query, tool), tool.name))
            return "\n".join(f"{tool.name}: {tool.description}" for tool in open_to[:most])
        if call.function == SCHEMA:
            name = str(call.arguments.get("toolName", ""))
            found = next((tool for tool in open_to if tool.name == name), None)
            return definition(found) if found else f"There is no tool {name!r}."
        return None


def stopped(output: ModelOutput, withheld: Collection[str]) -> ModelOutput:
    """Return an answer without its calls of withheld tools, direct or by ``execute_tool``."""
    calls = list(output.message.tool_calls or []) if output.choices else []
    gone = [_unwrapped(call).function for call in calls if _unwrapped(call).function in withheld]
    if not gone:
        return output
    through = [call for call in calls if _unwrapped(call).function not in withheld]
    return _with_calls(output, through, gone)


def _unwrapped(call: ToolCall) -> ToolCall:
    """Return the call inside an ``execute_tool``, at any depth; any other call as it is."""
    while call.function == EXECUTE:
        arguments: Mapping[str, Any] = call.arguments
        params = arguments.get("params")
        if isinstance(params, str):
            try:
                params = json.loads(params)
            except ValueError:
                params = None
        name = str(arguments.get("toolName", ""))
        made: dict[str, Any] = params if isinstance(params, dict) else {}
        call = replace(call, function=name, arguments=made)
    return call


def _with_calls(output: ModelOutput, calls: Sequence[ToolCall], gone: Sequence[str]) -> ModelOutput:
    message = output.message
    said = "".join(f"\n[A call of {name!r} was stopped: it is not on offer.]" for name in gone)
    content = (message.text + said).strip() if gone else message.content
    update = {"tool_calls": list(calls) or None, "content": content}
    return with_message(output, message.model_copy(update=update))


def _meta(name: str, description: str, required: Sequence[str], **kinds: str) -> ToolInfo:
    properties = {key: JSONSchema(type=kind) for key, kind in kinds.items()}  # type: ignore[arg-type]
    parameters = ToolParams(properties=properties, required=list(required))
    return ToolInfo(name=name, description=description, parameters=parameters)


META: Final = (
    _meta(EXECUTE, "Call a tool of the catalogue.", ["toolName", "params"], toolName="string", params="object"),
    _meta(SCHEMA, "The parameters of a tool of the catalogue.", ["toolName"], toolName="string"),
    _meta(SEARCH, "Search the catalogue for tools by what they do.", ["query"], query="string", limit="integer"),
)  # fmt: skip
_LOOKING: Final = frozenset([SEARCH, SCHEMA])
