"""A topic of benign work: tools, pools and templates of turns.

A template draws its values once, in written order, and fills all its turns from them, so that
turns agree with their tools' results.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, ValidationError, model_validator

from constraintrot import documents
from constraintrot.documents import told
from constraintrot.errors import ScenarioError, UnknownNameError
from constraintrot.scenario.draws import Draws, pure
from constraintrot.scenario.expression import Expression, expression, text, texts_in
from constraintrot.scenario.sections import Locale, Scalar, Section, Text, Tool
from constraintrot.strict import Strict

Texts: TypeAlias = Text | Annotated[list[Text], Field(min_length=1)]
Entry: TypeAlias = Scalar | dict[str, Scalar | list[Scalar]]

# Names for every template besides its pools and its own values.
GIVEN = frozenset({"org", "today"})
# One of these keeps a template from ever giving the same turn twice.
_NEVER_TWICE = frozenset({"subject", "ref"})


class TopicTool(Tool):
    """A tool; ``missing`` is its answer without a match, ``{{argument}}`` one of the arguments."""

    missing: Text


class Slip(Section):
    """A wrong call before the right one in some of the draws: wrong arguments, and the error."""

    arguments: dict[str, Any]
    result: Text


class TemplateCall(Section):
    """A call and its result, with ``{{expressions}}`` in both."""

    function: Text
    arguments: dict[str, Any]
    result: Text
    slip: Slip | None = None


class TemplateTurn(Section):
    """A request, its calls and the reply; one of several phrasings is drawn."""

    user: Texts
    calls: list[TemplateCall] = Field(default_factory=list[TemplateCall])
    reply: Texts


class Template(Section):
    """One turn, or a thread of two or three in this order, with other turns between them.

    Attributes:
        values: expressions by name, drawn in this order and shared by the turns.
        turns: the thread.
        check: expressions that are true of every draw; they read ``users``, ``results`` and
            ``replies``, and the last turn's ``user``, ``result`` and ``reply``.
    """

    values: dict[str, Text]
    turns: Annotated[list[TemplateTurn], Field(min_length=1, max_length=3)]
    check: Annotated[list[Text], Field(min_length=1)]

    def expressions(self) -> dict[str, Expression]:
        return {name: expression(source) for name, source in self.values.items()}


class Topic(Section):
    """Benign work of one kind."""

    tools: list[TopicTool]
    pools: dict[str, Annotated[list[Entry], Field(min_length=2)]] = Field(default_factory=dict)
    templates: Annotated[dict[str, Template], Field(min_length=1)]

    @model_validator(mode="after")
    def _whole(self) -> Topic:
        for name, pool in self.pools.items():
            shapes = {tuple(entry) if isinstance(entry, dict) else () for entry in pool}
            if len(shapes) != 1:
                raise ValueError(f"the entries of pool {name!r} do not all give the same names")
        tools = {tool.name: tool for tool in self.tools}
        for name, call in self._calls():
            tool = tools.get(call.function)
            if tool is None:
                raise ValueError(f"template {name!r} calls {call.function!r}, not among its tools")
            given = set(call.arguments)
            if not set(tool.required) <= given <= set(tool.properties):
                raise ValueError(f"template {name!r}: arguments {sorted(given)} do not fit")
        return self

    def _calls(self) -> Iterator[tuple[str, TemplateCall]]:
        for name, template in self.templates.items():
            for turn in template.turns:
                yield from ((name, call) for call in turn.calls)

    def compile(self, locale: str, given: Collection[str] = GIVEN) -> None:
        """Compile every expression, and refuse undefined names."""
        draws = Draws(random=None, today=None)  # type: ignore[arg-type]  # never drawn from
        common = {*given, *self.pools, *pure(locale), *draws.functions()}
        for name, template in self.templates.items():
            known, called = set(common), set[str]()
            for value, compiled in template.expressions().items():
                _check_names(f"{name}.{value}", compiled, known)
                called |= compiled.names
                known.add(value)
            if not called & _NEVER_TWICE:
                raise ScenarioError(f"template {name!r} draws no subject and no ref: it repeats")
            for source in texts_in([turn.model_dump() for turn in template.turns]):
                _check_names(name, text(source), known)
        for tool in self.tools:
            _check_names(tool.name, text(tool.missing), {*tool.properties})


def _check_names(where: str, compiled: Expression, known: Collection[str]) -> None:
    unknown = sorted(compiled.names - set(known))
    if unknown:
        raise ScenarioError(f"{where}: {compiled.source!r} names {unknown}, which nothing gives")


FOLDER = Path(__file__).parent.parent / "tasks" / "histories"
_POOLS = "_pools"


class _Head(Strict):
    canary: Literal["constraintrot-canary-5b0d6a1e-7f0c-4a52-9d6e-3c1f0e8a94b7"]
    locale: Locale
    topic: str


class _Pools(_Head):
    pools: dict[str, list[Entry]]


@cache
def stocked_names(locale: str) -> tuple[str, ...]:
    return tuple(
        sorted(path.stem for path in (FOLDER / locale).glob("*.yaml") if path.stem != _POOLS)
    )


def check_stocked(locale: str, topics: list[str]) -> None:
    """Raise ``UnknownNameError`` for a topic that a locale does not have."""
    for topic in topics:
        if topic not in stocked_names(locale):
            raise UnknownNameError(
                f"history topic of locale {locale}", topic, stocked_names(locale)
            )


@cache
def stocked(locale: str, name: str) -> Topic:
    """Return a topic by name, with the locale's common pools."""
    check_stocked(locale, [name])
    data = _read(locale, name)
    head = {key: data.pop(key, None) for key in _Head.model_fields}
    try:
        _Head.model_validate(head)
        own = data.get("pools") or {}
        return Topic.model_validate({**data, "pools": {**_common(locale), **own}})
    except ValidationError as error:
        raise ScenarioError(f"{locale}/{name}.yaml: {told(error)}") from error


@cache
def _common(locale: str) -> Mapping[str, Any]:
    try:
        return _Pools.model_validate(_read(locale, _POOLS)).pools
    except ValidationError as error:
        raise ScenarioError(f"{locale}/{_POOLS}.yaml: {told(error)}") from error


def _read(locale: str, name: str) -> dict[str, Any]:
    path = FOLDER / locale / f"{name}.yaml"
    data = documents.load(path, f"{locale}/{path.name}")
    if not isinstance(data, dict) or data.get("topic") != name or data.get("locale") != locale:
        raise ScenarioError(f"{locale}/{path.name}: must say its locale and its topic")
    return data
