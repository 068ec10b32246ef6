"""Tool schemas as blocks: only compiled tools are offered (sections 2.3 and 3.2).

::

    written = write_tools(registry, tools, by=owner)
    compiled = registry.compile(budget, query=request)
    await model.generate(messages, tools=offer(compiled, tools, among=written))

A tool is taken from the model if its block is evicted, or left out by the gate or the budget.
``offer`` needs the exact text of ``tool_block``, so a block of that name with another text
offers nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from constraintrot.defenses.rampart.errors import DuplicateBlockError, RegistryError

if TYPE_CHECKING:
    from constraintrot.defenses.rampart.block import Block
    from constraintrot.defenses.rampart.compile import Compiled
    from constraintrot.defenses.rampart.registry import Registry

TAG: Final = "tool"
PREFIX: Final = "tool:"

_DESCRIBED: Final = {"type", "properties", "required", "additionalProperties"}

T = TypeVar("T")


def tool_block(tool: object) -> str:
    """Return a tool's schema as the text of a block; the same schema gives the same text.

    Args:
        tool: Inspect's ``ToolInfo``, ``ToolDef`` or ``Tool``, or a mapping with
            name, description and parameters (a JSON schema of an object).

    Raises:
        RegistryError: it is none of these, or has no name.
    """
    name, description, parameters = _fields(tool)
    lines = [f"Tool {name}: {description.strip()}".strip()]
    required = parameters.get("required") or ()
    properties: Mapping[str, Any] = parameters.get("properties") or {}
    lines += [_parameter(key, value, key in required) for key, value in properties.items()]
    if not properties:
        lines.append("It takes no parameters.")
    if parameters.get("additionalProperties"):
        lines.append(f"Other parameters: {_compact(parameters['additionalProperties'])}")
    if rest := {key: value for key, value in parameters.items() if key not in _DESCRIBED}:
        lines.append(f"Schema: {_compact(rest)}")
    return "\n".join(lines)


def tool_name(tool: object) -> str:
    """Return the name of a tool's block."""
    return PREFIX + _fields(tool)[0]


def write_tools(
    registry: Registry,
    tools: Iterable[object],
    *,
    by: Any,
    priority: int = 50,
    removable: bool = True,
    run: str | None = None,
) -> tuple[Block, ...]:
    """Write the schemas of tools as blocks, all or none.

    The tools are as for ``tool_block``, and the other arguments as for ``Registry.write``.
    """
    texts: dict[str, str] = {}
    for tool in tools:
        name = tool_name(tool)
        if name in texts:
            raise DuplicateBlockError(f"two tools are named {name.removeprefix(PREFIX)!r}")
        texts[name] = tool_block(tool)
    return registry.write_all(
        texts,
        by=by,
        priority=priority,
        source="orchestrator",
        removable=removable,
        run=run,
        tags=(TAG,),
    )


def offer(
    compiled: Compiled, tools: Iterable[T], *, among: Iterable[Block] | None = None
) -> list[T]:
    """Return the tools whose schemas are in a compiled prompt, in the order given.

    Args:
        compiled: the compile that the model will see.
        tools: all tools.
        among: the blocks that count, as ``write_tools`` returned them. Give them if others may
            write to the registry, because one of them could write an evicted schema anew.
    """
    ids = None if among is None else {block.id for block in among}
    compiled_schemas = {
        (name, digest)
        for name, digest, block_id in zip(
            compiled.names, compiled.digests, compiled.ids, strict=True
        )
        if ids is None or block_id in ids
    }
    return [
        tool for tool in tools if (tool_name(tool), _digest(tool_block(tool))) in compiled_schemas
    ]


def _fields(tool: object) -> tuple[str, str, Mapping[str, Any]]:
    if isinstance(tool, Mapping):
        given = cast("Mapping[str, Any]", tool)
        fields = (given.get("name"), given.get("description", ""), given.get("parameters", {}))
    else:
        described: Any = tool if hasattr(tool, "parameters") else _definition(tool)
        parameters: Any = described.parameters
        if hasattr(parameters, "model_dump"):
            parameters = parameters.model_dump(mode="json", exclude_none=True)
        fields = (described.name, described.description, parameters)
    name, description, schema = fields
    if not isinstance(name, str) or not name.strip():
        raise RegistryError(f"a tool has a name; got {name!r}")
    if not isinstance(description or "", str) or not isinstance(schema or {}, Mapping):
        raise RegistryError(f"tool {name!r}: description is a text and parameters a JSON schema")
    return name, description or "", cast("Mapping[str, Any]", schema or {})


def _definition(tool: object) -> Any:
    if not callable(tool):
        raise RegistryError(f"{type(tool).__name__} is no tool")
    # Only a bare Inspect tool needs Inspect, which is then installed.
    from inspect_ai.tool import ToolDef

    try:
        return ToolDef(tool)
    except (TypeError, ValueError) as error:
        raise RegistryError(f"{tool!r} is no tool: {error}") from error


def _parameter(name: str, schema: Any, required: bool) -> str:
    if not isinstance(schema, Mapping):
        return f"- {name}: {_compact(schema)}"
    given = cast("Mapping[str, Any]", schema)
    rest = {key: value for key, value in given.items() if key != "description"}
    plain = set(rest) == {"type"} and isinstance(rest["type"], str)
    kind = str(rest["type"]) if plain else _compact(rest)
    need = "required" if required else "optional"
    return f"- {name} ({need}, {kind}): {given.get('description') or ''}".rstrip(": ")


def _compact(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
