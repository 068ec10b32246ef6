"""Tool definitions from a file: OpenAPI, an MCP server's list, or JSON schemas; never called."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from constraintrot.documents import json_data, read_text, yaml_data
from constraintrot.errors import ParameterError
from constraintrot.scenario.sections import Tool
from constraintrot.scenario.values import is_list, is_mapping

# Descriptions of whole services are large.
_MOST_BYTES = 5_000_000
_MOST_TOOLS = 400
_DEPTH = 12
# Per tool, because an agent is shown all of it.
_MOST_NODES = 2_000
_METHODS = ("get", "put", "post", "delete", "patch")
_LONGEST = 400


def read(path: Path) -> list[Tool]:
    """Return the tools that a file defines.

    Args:
        path: JSON or YAML: an OpenAPI 3 or Swagger 2 description, the result of an MCP
            server's ``tools/list``, or JSON schemas of functions, as for chat APIs.
    """
    return defined(_data(path), str(path))


def defined(data: Any, where: str) -> list[Tool]:
    """Return the tools that decoded JSON or YAML defines, in the forms that ``read`` takes."""
    found: dict[str, Tool] = {}
    for name, description, schema in _definitions(data):
        usable = re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_")[:64]
        if not usable or usable == "decline" or usable in found:
            continue
        parameters = _inlined(schema, data)
        if not is_mapping(parameters) or parameters.get("type", "object") != "object":
            parameters = {"properties": {"value": parameters or {}}}
        found[usable] = Tool(
            name=usable,
            # Without placeholders, and short, because an agent is shown all of it.
            description=_short(description) or usable.replace("_", " "),
            parameters={"type": "object", "properties": {}, **_plain(parameters)},
        )
    if not found:
        raise ParameterError(
            f"{where}: no tools in it; give an OpenAPI description, the result of an MCP server's"
            " tools/list, or a list of JSON schemas {name, description, parameters}"
        )
    if len(found) > _MOST_TOOLS:
        raise ParameterError(f"{where}: {len(found)} tools; at most {_MOST_TOOLS} are read")
    return list(found.values())


def _data(path: Path) -> Any:
    text = read_text(path, _MOST_BYTES, ParameterError)
    read_data = json_data if text.lstrip()[:1] in ("{", "[") else yaml_data
    return read_data(text, f"--tools: {path}", ParameterError)


def _definitions(data: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield name, description and parameters' schema of each tool."""
    if is_mapping(data) and is_mapping(data.get("paths")):
        yield from _operations(cast("Mapping[str, Any]", data))
        return
    if is_mapping(data) and is_mapping(data.get("result")):
        data = data["result"]  # of a JSON-RPC answer
    if is_mapping(data):
        data = data.get("tools", data.get("functions", [data]))
    for one in cast("Sequence[Any]", data) if is_list(data) else ():
        tool = one.get("function", one) if is_mapping(one) else {}
        if not is_mapping(tool):
            continue
        name = tool.get("name") or tool.get("title")
        schema = next(
            (tool[key] for key in ("inputSchema", "input_schema", "parameters") if key in tool),
            tool if "properties" in tool else None,
        )
        if isinstance(name, str) and name.strip() and schema is not None:
            yield name, str(tool.get("description") or ""), schema


def _operations(data: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield the operations of an OpenAPI description, parameters and body as one object."""
    for route, item in data["paths"].items():
        if not is_mapping(item):
            continue
        for method in _METHODS:
            operation = item.get(method)
            if not is_mapping(operation):
                continue
            name = operation.get("operationId") or f"{method}_{str(route).strip('/')}"
            told = operation.get("summary") or operation.get("description") or f"{method} {route}"
            properties: dict[str, Any] = {}
            required: list[str] = []
            for given in [*_list(item.get("parameters")), *_list(operation.get("parameters"))]:
                _take(_inlined(given, data), properties, required)
            body = _inlined(operation.get("requestBody"), data)
            if is_mapping(body):
                _take({"in": "body", **body, "schema": _json_schema(body)}, properties, required)
            schema = {"type": "object", "properties": properties, "required": required}
            yield str(name), str(told), schema


def _take(given: Any, properties: dict[str, Any], required: list[str]) -> None:
    """Add a parameter of an operation, or the properties of its body."""
    if not is_mapping(given) or given.get("in") in ("header", "cookie"):
        return
    schema = given.get("schema")
    if given.get("in") == "body":
        inner = schema if is_mapping(schema) else {}
        for name, one in _mapping(inner.get("properties")).items():
            properties.setdefault(str(name), one)
        required += [str(name) for name in _list(inner.get("required")) if name not in required]
        return
    name = str(given.get("name") or "")
    if not name:
        return
    described = {"description": given["description"]} if given.get("description") else {}
    kept = {key: given[key] for key in ("type", "enum", "items", "format") if key in given}
    properties[name] = {**kept, **_mapping(schema), **described}
    if given.get("required") is True and name not in required:
        required.append(name)


def _json_schema(body: Mapping[str, Any]) -> Any:
    content = _mapping(body.get("content"))
    media = next((content[kind] for kind in content if "json" in str(kind)), None)
    media = media or next(iter(content.values()), None)
    return media.get("schema") if is_mapping(media) else None


def _inlined(node: Any, whole: Any) -> Any:
    """Return a schema with references within the file resolved; other files are not read."""
    return _Inliner(whole).inlined(node, (), 0)


class _Inliner:
    """Resolves one schema; beyond its bounds, and in a cycle, a schema allows anything."""

    def __init__(self, whole: Any) -> None:
        self._whole = whole
        self._left = _MOST_NODES

    def inlined(self, node: Any, within: tuple[str, ...], depth: int) -> Any:
        """Return a node resolved, inside the resolution of some references."""
        self._left -= 1
        if depth > _DEPTH or self._left < 0:
            return {}
        if is_list(node):
            return [self.inlined(item, within, depth + 1) for item in node]
        if not is_mapping(node):
            return node
        reference = node.get("$ref")
        if not isinstance(reference, str):
            return {str(key): self.inlined(one, within, depth + 1) for key, one in node.items()}
        target = None if reference in within else _at(self._whole, reference)
        return {} if target is None else self.inlined(target, (*within, reference), depth + 1)


def _at(whole: Any, reference: str) -> Any:
    if not reference.startswith("#/"):
        return None
    for part in reference[2:].split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        whole = whole.get(key) if is_mapping(whole) else None
    return whole


def _plain(node: Any) -> Any:
    """Return a schema without texts that look like placeholders."""
    if is_mapping(node):
        return {str(key): _plain(value) for key, value in node.items() if key != "$schema"}
    if is_list(node):
        return [_plain(item) for item in node]
    return node.replace("{{", "{ {").replace("}}", "} }") if isinstance(node, str) else node


def _short(text: str) -> str:
    flat = _plain(re.sub(r"\s+", " ", text).strip())
    return flat if len(flat) <= _LONGEST else f"{flat[: _LONGEST - 1]}…"


def _list(node: Any) -> Sequence[Any]:
    return node if is_list(node) else ()


def _mapping(node: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", node) if is_mapping(node) else {}
