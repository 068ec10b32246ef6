"""Answers of the history's tools to calls that are not in the history.

An agent that looks things up before it acts gets a result from a template of the tool's calls,
with the given arguments instead of drawn ones. Nothing is executed.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from constraintrot.errors import ScenarioError, UnknownNameError
from constraintrot.scenario import history
from constraintrot.scenario.compiler import Env
from constraintrot.scenario.days import Clock
from constraintrot.scenario.draws import Draws
from constraintrot.scenario.expression import Expression, evaluate
from constraintrot.scenario.history import TopicTemplate
from constraintrot.scenario.schema import HistoryTurn, Variant
from constraintrot.scenario.template import show
from constraintrot.scenario.topic import TemplateCall, TopicTool

_PLACEHOLDER = re.compile(r"\{\{\s*([a-z_][a-z0-9_]*)(?:\.([a-z_]+))?\s*\}\}")
_LACKS = {
    "en": "error: missing argument '{}'",
    "es": "error: falta el argumento '{}'",
    "de": "Fehler: Argument '{}' fehlt",
    "zh": "错误：缺少参数 '{}'",
}
# A shorter part of a name is too ambiguous to find it by.
_SHORTEST_PART = 3
_LONGEST = 200
# Arguments with free text.
_FREE = frozenset({"note"})
# Most draws of a template to get given arguments that cannot be set.
_TRIES = 60


class _NoMatchError(Exception):
    """A given argument differs from the drawn one; another draw may fit."""


class _NeverError(_NoMatchError):
    """This template cannot draw a given argument."""


def simulate(
    variant: Variant,
    function: str,
    arguments: Mapping[str, Any],
    seen: Iterable[HistoryTurn] = (),
) -> str:
    """Return the result of a call of one of the history's tools, the same for the same call."""
    tools = variant.scenario.reading_tools
    if function not in tools:
        raise UnknownNameError("history tool", function, tools)
    for made in (made for turn in seen for made in turn.calls):
        if made.function == function and made.arguments == dict(arguments):
            return made.result
    for name in tools[function].required:
        if arguments.get(name) in (None, ""):
            return _LACKS[variant.scenario.locale].format(name)
    key = f"{variant.scenario.family}/{variant.seed}/{function}/{_canonical(arguments)}"
    for template, call in _candidates(variant, function, arguments, key):
        for attempt in range(_TRIES):
            draws = history.draws_for(variant, Random(f"{key}/{attempt}"), attempt, deck=key)
            try:
                env = _bound(variant, template, call, arguments, draws)
            except _NeverError:
                break
            except (_NoMatchError, ScenarioError):
                continue
            return str(evaluate(call.result, env))
    return _missing(tools[function], arguments)


def _canonical(arguments: Mapping[str, Any]) -> str:
    try:
        return json.dumps(arguments, sort_keys=True, default=str)
    except (RecursionError, ValueError):  # too deep, or an integer too long to print
        return ""


def _candidates(
    variant: Variant, function: str, arguments: Mapping[str, Any], key: str
) -> list[tuple[TopicTemplate, TemplateCall]]:
    """Return the template calls of a function, those with the best-fitting arguments first."""
    found = [
        (template, call)
        for template in history.templates(variant)
        for turn in template.template.turns
        for call in turn.calls
        if call.function == function
    ]
    Random(key).shuffle(found)
    return sorted(found, key=lambda one: len(set(one[1].arguments) ^ set(arguments)))


def _missing(tool: TopicTool, arguments: Mapping[str, Any]) -> str:
    given: Env = {name: _written(arguments.get(name, "")) for name in tool.properties}
    return str(evaluate(tool.missing, given))


def _bound(
    variant: Variant,
    template: TopicTemplate,
    call: TemplateCall,
    arguments: Mapping[str, Any],
    draws: Draws,
) -> Env:
    """Return a template's values, with the given arguments instead of drawn ones."""
    given = dict(_given(call, arguments))
    env = history.environment(variant, template, draws)
    for name, value in template.template.expressions().items():
        drawn = value.run(env)
        if name in given:
            member, wanted = given[name]
            drawn = _match(value, env, drawn, member, wanted)
        env[name] = drawn
    for name, source in call.arguments.items():
        if (
            name in arguments
            and name not in _FREE
            and not _agree(evaluate(source, env), arguments[name])
        ):
            raise _NoMatchError(name)
    return env


def _given(
    call: TemplateCall, arguments: Mapping[str, Any]
) -> Iterator[tuple[str, tuple[str, Any]]]:
    for name, source in call.arguments.items():
        found = _PLACEHOLDER.fullmatch(source) if isinstance(source, str) else None
        if found and name in arguments:
            yield found[1], (found[2] or "", arguments[name])


def _match(value: Expression, env: Env, drawn: Any, member: str, wanted: Any) -> Any:
    """The value that is written as the given one; the drawn value if it cannot be set."""
    function, arguments = value.call or ("", ())
    given = [argument(env) for argument in arguments]
    if function in ("subject", "pick") and len(given) == 1:
        return _entry(given[0], member, _written(wanted))
    if function in ("int", "ref", "real"):
        return _within(given[0], given[1], wanted)
    if function == "day":
        days = (env["today"].work(offset) for offset in range(given[0], given[1] + 1))
        return _entry(list(days), member, _written(wanted))
    if function == "time":
        return _time(wanted)
    return drawn


def _entry(pool: Sequence[Any], member: str, wanted: str) -> Any:
    written = [(entry, _folded(_shown(entry, member))) for entry in pool]
    folded = _folded(wanted)
    for entry, name in written:
        if name == folded:
            return entry
    for entry, name in written:
        if len(folded) >= _SHORTEST_PART and (folded in name or name in folded):
            return entry
    raise _NeverError


def _time(wanted: Any) -> Clock:
    try:
        return Clock.parse(_written(wanted))
    except ScenarioError:
        raise _NeverError from None


def _shown(value: Any, member: str) -> Any:
    if not member:
        return value
    return value[member] if isinstance(value, dict) else getattr(value, member)


def _within(low: float, high: float, wanted: Any) -> float:
    try:
        number = float(_written(wanted))
    except ValueError:
        raise _NeverError from None
    if not low <= number <= high:
        raise _NeverError
    return int(number) if number.is_integer() else number


def _agree(drawn: Any, wanted: Any) -> bool:
    if isinstance(drawn, str | int | float | Clock):
        one, other = _folded(drawn), _folded(wanted)
        return one == other or (len(other) >= _SHORTEST_PART and (other in one or one in other))
    return _canonical({"": drawn}) == _canonical({"": wanted})


def _folded(value: Any) -> str:
    return " ".join(_written(value).casefold().split())


def _written(value: Any) -> str:
    try:
        return show(value)[:_LONGEST]
    except (RecursionError, ValueError):
        return ""
