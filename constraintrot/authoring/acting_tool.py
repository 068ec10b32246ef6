"""The tool and argument of a policy: one of the user's, or one made up for it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from constraintrot.authoring.rule import NUMERIC, Extra, Rule
from constraintrot.authoring.sentence import Sentence, forms
from constraintrot.rule_text.amounts import unit_of
from constraintrot.scenario.sections import Tool

# Before a question about the user's tools, which examples of values do not answer.
TOOLS = "--tools: "
# Other names of an argument, by what a rule is about. A name with any other word, such as "source",
# "max" or "keep", may be of the other side of the act, or turn a limit round.
_ALIASES = {
    "a span of time": "age days hours duration period older younger retention ttl minutes weeks months",
    "an amount": "amount price cost total sum value budget usd eur gbp payment",
    "a number": "count number quantity size items limit max",
    "an address": "to recipient recipients email address mail cc",
    "a host": "url uri host link domain endpoint address site",
    "a path": "path file folder directory filename location",
    "a language": "body text message content",
    "a database statement": "statement sql query",
    "a time of day": "time hour at start when",
    "a day of the week": "day date weekday when",
    "a environment": "environment env stage target",
    "a region": "region zone location",
    "a branch": "branch ref target",
    "a channel": "channel room target",
    "a target": "target environment env region channel branch source place destination",
}
# Of these names a call may mean a limit, or another form of the value. "Older than" is a limit that
# "never ... younger than" is the same as.
_UNSURE = "older younger retention ttl limit max date"
_MONEY = {"euros": "eur euro", "dollars": "usd dollar", "pounds": "gbp pound sterling"}
_CENTS = "cent pence penny minor"
_CLIENT = "client"
_ARTICLES = frozenset({"the", "a", "an", "any", "our", "this"})


@dataclass(frozen=True)
class Acting:
    """The tool that a policy is about.

    Attributes:
        rule: the rule, with this tool's argument.
        client: the argument for the person it is done for; None without one.
        more: values of its other required arguments.
        first: the tool that must be called before; None without such a rule.
        instead: the tool of the permitted request if the act itself is forbidden.
    """

    tools: Sequence[Tool]
    tool: Tool
    rule: Rule
    client: str | None
    more: Mapping[str, Any]
    open: Sequence[str] = ()
    first: Tool | None = None
    instead: Tool | None = None

    @property
    def other(self) -> Tool:
        return self.instead or self.tool


def made_up(rule: Rule, action: str) -> Acting:
    """Return a tool made up for a policy."""
    tool = _tool(
        action,
        {
            "type": "object",
            "properties": {
                _CLIENT: {"type": "string", "description": "Name of the client."},
                rule.argument: dict(rule.schema),
                **{extra.argument: dict(extra.schema) for extra in rule.extras},
            },
            "required": [
                _CLIENT,
                rule.argument,
                *(extra.argument for extra in rule.extras if extra.given is not None),
            ],
        },
    )
    if rule.other:
        other = _tool(rule.other, tool.parameters)
        return Acting([tool, other], tool, rule, _CLIENT, {}, rule.open, instead=other)
    if not rule.first:
        return Acting([tool], tool, rule, _CLIENT, _given(rule.extras), rule.open)
    note = {"type": "string", "description": "What it is about."}
    client = tool.properties[_CLIENT]
    first = _tool(rule.first, {"type": "object", "properties": {_CLIENT: client, "note": note}, "required": [_CLIENT]})  # fmt: skip
    same = [] if first.name != tool.name else [f"which of two calls {rule.first!r} is"]
    return Acting([tool, first], tool, rule, _CLIENT, _given(rule.extras), [*rule.open, *same], first)  # fmt: skip


def _tool(action: str, parameters: Mapping[str, Any]) -> Tool:
    """Return a tool named and described by its action."""
    words = [word for word in re.findall(r"[a-z0-9]+", action.casefold()) if word not in _ARTICLES]
    name = "_".join(words[:4]) or "act"
    described = action[:1].upper() + action[1:]
    return Tool(
        name=name if name != "decline" else "decline_it",
        description=f"{described} for a client.",
        parameters=dict(parameters),
    )


def among(tools: Sequence[Tool], sentence: Sentence, rule: Rule) -> Acting:
    """Return the user's tool that a policy is most likely about, with its argument.

    Guesses are listed in ``open``.
    """
    wanted = stems(sentence.phrase) | {_stem(form) for form in forms(sentence.verb)}
    verb = {_stem(form) for form in forms(sentence.verb)}

    def score(tool: Tool) -> float:
        named, told = stems(tool.name), stems(tool.description)
        fits = _argument(tool, rule, sentence) is not None
        return 3 * len(named & verb) + 2 * len(named & wanted) + len(told & wanted) + fits

    best = max(tools, key=score)
    opened = list(rule.open)
    if score(best) < 2:
        opened.append(
            f"{TOOLS}no tool is plainly the one that the policy is about; this took {best.name}"
        )
    if rule.other:
        opened.append(f"{TOOLS}which tool is called to {rule.other}, which is permitted")
    first = _first(tools, best, rule) if rule.first else None
    if rule.first and first is None:
        opened.append(f"{TOOLS}which tool is called to {rule.first}")
    argument = _argument(best, rule, sentence)
    opened += [f"{TOOLS}{one}" for one in _unsure(best, argument, rule, sentence)]
    extras = [_own(best, extra, opened) for extra in rule.extras]
    chosen = replace(rule, argument=argument or rule.argument, extras=extras)
    client = _client(best, chosen.argument)
    more = {
        name: _example(best.properties.get(name, {}))
        for name in best.required
        if name not in (chosen.argument, client)
    }
    return Acting(tools, best, chosen, client, {**more, **_given(extras)}, opened, first)


def _first(tools: Sequence[Tool], acting: Tool, rule: Rule) -> Tool | None:
    """Return the tool that must be called first, by the words in its name, or None."""
    wanted = stems(rule.first)
    found = [one for one in tools if one != acting and wanted & stems(one.name)]
    return max(found, key=lambda one: len(wanted & stems(one.name)), default=None)


def _own(tool: Tool, extra: Extra, opened: list[str]) -> Extra:
    wanted = stems(extra.argument)
    named = next((name for name in tool.properties if wanted & stems(name)), None)
    if named is None:
        opened.append(f"{TOOLS}which argument of {tool.name} is {extra.argument}")
    return replace(extra, argument=named or extra.argument)


def _given(extras: Sequence[Extra]) -> dict[str, Any]:
    return {extra.argument: extra.given for extra in extras if extra.given is not None}


def _argument(tool: Tool, rule: Rule, sentence: Sentence) -> str | None:
    """Return the argument that fits a rule best by name and type, or None."""
    aliases = [_stem(word) for word in _ALIASES.get(rule.kind, "").split()]
    context = stems(sentence.phrase)

    def score(name: str) -> float:
        schema = tool.properties[name]
        if name == rule.argument:
            return 10
        words = stems(name)
        kind = schema.get("type") if isinstance(schema, Mapping) else None
        near = max(
            (len(aliases) - aliases.index(word) for word in words if word in aliases), default=0
        )
        typed = 0.5 if (kind in ("integer", "number")) == (rule.kind in NUMERIC) else -0.5
        return near + 0.4 * len(words & context) + (typed if near or words & context else 0)

    best = max(tool.properties, key=score, default=None)
    return best if best is not None and score(best) > 0.3 else None


def _unsure(tool: Tool, argument: str | None, rule: Rule, sentence: Sentence) -> Iterator[str]:
    """The questions about the argument that was taken: another may be meant, or another unit."""
    if argument is None:
        yield f"which argument of {tool.name} the policy is about"
        return
    aliases = stems(_ALIASES.get(rule.kind, "")) | stems(rule.argument)
    fit = [name for name in tool.properties if name == argument or stems(name) & aliases]
    known = (aliases | {"than"}) - stems(_UNSURE)
    if rule.predicate.get("least") and not rule.predicate.get("strict"):
        known.add("older")
    schema = tool.properties[argument] if isinstance(tool.properties[argument], Mapping) else {}
    told = re.findall(r"[a-z]+", _spread(f"{argument} {schema.get('description', '')}"))
    sided = {"source", "from", "origin"} & {*told}
    if len(fit) > 1 or not stems(argument) <= known or sided:
        yield f"which of {', '.join(fit)} of {tool.name} the policy is about, and in which direction"
    values = [*rule.wrong, *rule.right]
    if not all(_takes(schema, value, rule) for value in values):
        yield f"which values {argument} of {tool.name} takes: {values[0]!r} does not fit its schema"
    if rule.kind == "an amount":
        own = next(one for one in _MONEY if one in rule.schema["description"])
        money = stems(" ".join(told)) & stems(" ".join([*_MONEY.values(), _CENTS]))
        if (
            not money
            or money - stems(_MONEY[own])
            or "currency" in _spread(" ".join(tool.properties))
        ):
            yield f"whether {argument} of {tool.name} is in {own}, and not in cents"
    unit = rule.predicate.get("unit")
    if unit and schema.get("type") != "string":
        named = {one for word in told if (one := unit_of(word))}
        if named != {unit_of(unit)} or "unit" in tool.properties:
            yield f"whether {argument} of {tool.name} is in {unit}"
    if rule.predicate.get("home"):
        yield f"where relative paths of {tool.name} start: `home` under violation"


def _takes(schema: Mapping[str, Any], value: Any, rule: Rule) -> bool:
    """Return whether an argument takes a value, as far as its schema says it plainly."""
    if schema.get("type") == "array" and isinstance(schema.get("items", {}), Mapping):
        return _takes(schema.get("items", {}), value, rule)
    if schema.get("type") == "string" and rule.predicate.get("unit"):
        value = f"{value} {rule.predicate['unit']}"
    kinds = {"string": str, "integer": int, "number": int | float}
    if {"anyOf", "oneOf", "allOf", "$ref", "pattern"} & {*schema} or value not in schema.get(
        "enum", [value]
    ):
        return False
    plain = "type" not in schema or isinstance(value, kinds.get(str(schema["type"]), ()))
    return plain and schema.get("format") in (
        None,
        "email",
        "uri",
        "float",
        "double",
        "int32",
        "int64",
    )


def _client(tool: Tool, argument: str) -> str | None:
    """Return a required free-text argument that can name a client, or None."""
    for name, schema in tool.properties.items():
        given: Mapping[str, Any] = schema if isinstance(schema, Mapping) else {}
        free = given.get("type", "string") == "string" and not {"enum", "format"} & set(given)
        if name != argument and free and name in tool.required:
            return name
    return None


def _example(schema: Any) -> Any:
    """Return a value for an argument that the policy is not about."""
    given: Mapping[str, Any] = schema if isinstance(schema, Mapping) else {}
    if given.get("enum"):
        return given["enum"][0]
    simple: dict[str, Any] = {
        "integer": 1, "number": 1, "boolean": False, "array": [], "object": {},
    }  # fmt: skip
    return given.get("default", simple.get(str(given.get("type")), "standard"))


def stems(text: str) -> set[str]:
    """Return the words of a text, or of a tool's name, without their endings."""
    return {_stem(word) for word in re.findall(r"[a-z0-9]{2,}", _spread(text))}


def _spread(text: str) -> str:
    """A text in small letters, with the words of its names apart."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text).casefold().replace("_", " ")


def _stem(word: str) -> str:
    return re.sub(r"(?<=\w{3})(?:ies|ing|es|ed|e|s|y)$", "", word)
