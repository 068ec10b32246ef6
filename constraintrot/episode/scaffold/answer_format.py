"""The format in which a local model is asked for a tool call, and its strict parser.

There are two formats. In ``direct``, which ``review`` also uses, the model writes one call,
``{"name": ..., "arguments": {...}}``. In ``deliberate`` it first writes the policy that it
recalls, then whether the request breaks it, then the call. Small models do not reliably write
the tool tags of their chat template, so sampling is constrained to ``call_schema``. If no tool
``decline`` is on offer, a JSON string may replace the call. This module does not import Inspect.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from constraintrot.episode.scaffold.instructions import Scaffold, check_scaffold
from constraintrot.errors import ParameterError

POLICY_CHARACTERS = 400
WORDS_CHARACTERS = 400

_NONE = {"", "none", "无", "無", "ninguna", "ninguno"}
_FENCE = re.compile(r"```json[ \t]*\n(.*)\n[ \t]*```", re.DOTALL)


class ToolLike(Protocol):
    """The used parts of a tool definition; ``parameters`` is a JSON schema of an object."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def parameters(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True)
class ToolSpec:
    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Reading:
    """A parsed answer of a model.

    Attributes:
        policy: The policy that the model recalled, as written (``none`` included);
            None if the scaffold has no such field.
        breaks: ``yes`` or ``no``, as written; None if there is no such field.
        error: Why the text is malformed, with ``calls`` empty; None if it is not.
        prose: The words in place of the call, if no tool declines.
    """

    policy: str | None = None
    breaks: str | None = None
    calls: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    error: str | None = None
    prose: str | None = None

    @property
    def recalled(self) -> str | None:
        """The recalled policy; None if the model wrote ``none``, in any of the locales."""
        text = (self.policy or "").strip()
        return None if text.lower().rstrip(".。") in _NONE else text


class _MalformedError(ValueError):
    pass


def dumps(value: Any) -> str:
    """Return JSON as these models write it: one line, spaced separators, letters not escaped."""
    return json.dumps(value, ensure_ascii=False)


def render_tools(tools: Sequence[ToolLike]) -> str:
    """Return the tools as prompt text; equal tools give equal bytes, for prefix caches."""
    lines = [
        dumps({"name": tool.name, "description": tool.description, "parameters": tool.parameters})
        for tool in tools
    ]
    return "\n".join(["# Tools", "<tools>", *lines, "</tools>"])


def render_call(function: str, arguments: Mapping[str, Any]) -> str:
    """Return one call as a model is asked to write it in the direct scaffold."""
    return dumps({"name": function, "arguments": arguments})


def call_schema(
    tools: Sequence[ToolLike], scaffold: Scaffold = "direct", *, words: bool = False
) -> dict[str, Any]:
    """Return the JSON schema of one answer, for constrained sampling."""
    check_scaffold(scaffold)
    if not tools:
        raise ParameterError("a call schema needs at least one tool")
    calls = {"anyOf": [_alternative(tool) for tool in tools]}
    if words:
        calls["anyOf"].append({"type": "string", "maxLength": WORDS_CHARACTERS})
    if scaffold == "direct":
        return calls
    return _object(
        {
            "policy": {"type": "string", "maxLength": POLICY_CHARACTERS},
            "breaks_policy": {"enum": ["yes", "no"]},
            "call": calls,
        }
    )


def _alternative(tool: ToolLike) -> dict[str, Any]:
    arguments = {"type": "object", "additionalProperties": False, **tool.parameters}
    return _object({"name": {"const": tool.name}, "arguments": arguments})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def read(text: str, tools: Sequence[ToolLike]) -> Reading:
    """Parse an answer: exactly one JSON value in the format of a scaffold, or a list of calls.

    Surrounding whitespace and one ``json`` fence are allowed. Doubled braces, trailing prose,
    repeated keys, extra keys and unknown functions set ``error``; nothing is raised.
    """
    try:
        value = _load(text)
        if _is(value, dict) and "name" not in value:
            return _read_deliberate(value, tools)
        if isinstance(value, str) and _words_allowed(tools):
            return Reading(prose=value)
        calls = [_read_call(call, tools) for call in (value if _is(value, list) else [value])]
        if not calls:
            raise _MalformedError("an empty list of calls")
        return Reading(calls=calls)
    except _MalformedError as error:
        return Reading(error=str(error))


def _words_allowed(tools: Sequence[ToolLike]) -> bool:
    return all(tool.name != "decline" for tool in tools)


def _is(value: object, kind: type) -> bool:
    """``isinstance``, without narrowing to a container of unknown types."""
    return isinstance(value, kind)


def _load(text: str) -> Any:
    body = text.strip()
    if fenced := _FENCE.fullmatch(body):
        body = fenced[1]
    try:
        value = json.loads(
            body, object_pairs_hook=_unique, parse_constant=_finite, parse_float=_finite
        )
        # A lone surrogate is legal JSON, but no log and no tool can encode it.
        dumps(value).encode()
    except _MalformedError:
        raise
    except (ValueError, RecursionError) as error:
        raise _MalformedError(f"not one JSON value: {error}") from None
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _MalformedError("an object has the same key twice")
    return value


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise _MalformedError(f"{number} is not a JSON number")
    return value


def _keys(value: Any, keys: tuple[str, ...], what: str) -> None:
    if not isinstance(value, dict):
        raise _MalformedError(f"{what} is not an object")
    given = cast(dict[str, Any], value).keys()
    if given != set(keys):
        raise _MalformedError(f"{what} has the keys {sorted(given)}, not {sorted(keys)}")


def _read_call(value: Any, tools: Sequence[ToolLike]) -> dict[str, Any]:
    _keys(value, ("name", "arguments"), "the call")
    name, arguments = value["name"], value["arguments"]
    if not isinstance(arguments, dict):
        raise _MalformedError("the call's arguments are not an object")
    if not isinstance(name, str) or name not in {tool.name for tool in tools}:
        raise _MalformedError(f"no tool on offer is called {name!r}")
    return {"function": name, "arguments": arguments}


def _read_deliberate(value: dict[str, Any], tools: Sequence[ToolLike]) -> Reading:
    _keys(value, ("policy", "breaks_policy", "call"), "the answer")
    policy, breaks = value["policy"], value["breaks_policy"]
    if not isinstance(policy, str):
        raise _MalformedError("policy is not a text")
    if breaks not in ("yes", "no"):
        raise _MalformedError("breaks_policy is neither yes nor no")
    call = value["call"]
    if isinstance(call, str) and _words_allowed(tools):
        return Reading(policy=policy, breaks=breaks, prose=call)
    return Reading(policy=policy, breaks=breaks, calls=[_read_call(call, tools)])


def deliberation(policy: str, breaks: str) -> str:
    """Return the two fields before the call as JSON, which the provider logs as the text."""
    return dumps({"policy": policy, "breaks_policy": breaks})


def read_deliberation(text: str) -> tuple[str, str] | None:
    """Parse a ``deliberation`` into (policy, breaks); None for any other text."""
    try:
        value = _load(text)
        _keys(value, ("policy", "breaks_policy"), "the text")
    except _MalformedError:
        return None
    policy, breaks = value["policy"], value["breaks_policy"]
    if not isinstance(policy, str) or breaks not in ("yes", "no"):
        return None
    return policy, breaks


def render_answer(content: str, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """Return an assistant turn as the model would have written it, from text and calls."""
    if not calls:
        return content
    values = [{"name": function, "arguments": arguments} for function, arguments in calls]
    recalled = read_deliberation(content) if len(values) == 1 else None
    if recalled:
        policy, breaks = recalled
        return dumps({"policy": policy, "breaks_policy": breaks, "call": values[0]})
    written = dumps(values[0] if len(values) == 1 else values)
    return f"{content}\n{written}" if content else written
