"""The tool and argument of a policy: one of the user's, or one made up for it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from constraintrot.authoring.rule import Extra, Rule
from constraintrot.authoring.sentence import Sentence, forms
from constraintrot.scenario.sections import Tool

# Other names of an argument, by the rule's kind.
_ALIASES = {
    "a span of time": "age days hours duration period older younger retention ttl minutes weeks months",
    "an amount": "amount price cost total sum value budget usd eur gbp payment",
    "a number": "count number quantity limit max size items",
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
_NUMERIC = ("a span of time", "an amount", "a number")
_CLIENT = "client"
_ARTICLES = frozenset({"the", "a", "an", "any", "our", "this"})


@dataclass(frozen=True)
class Acting:
    """The tool that a policy is about.

    Attributes:
        tools: the tools on offer, ``tool`` included.
        tool: the tool of the prohibited request.
        rule: the rule, with this tool's argument.
        client: the argument for the person it is done for; None without one.
        more: values of its other required arguments.
        open: questions about guesses.
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
        opened.append(f"no tool is plainly the one that the policy is about; this took {best.name}")
    if rule.other:
        opened.append(f"which tool is called to {rule.other}, which is permitted")
    first = _first(tools, best, rule) if rule.first else None
    if rule.first and first is None:
        opened.append(f"which tool is called to {rule.first}")
    argument = _argument(best, rule, sentence)
    if argument is None:
        opened.append(f"which argument of {best.name} the policy is about")
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
    """Return a further argument under the tool's own name for it."""
    wanted = stems(extra.argument)
    named = next((name for name in tool.properties if wanted & stems(name)), None)
    if named is None:
        opened.append(f"which argument of {tool.name} is {extra.argument}")
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
        typed = 0.5 if (kind in ("integer", "number")) == (rule.kind in _NUMERIC) else -0.5
        return near + 0.4 * len(words & context) + (typed if near or words & context else 0)

    best = max(tool.properties, key=score, default=None)
    return best if best is not None and score(best) > 0.3 else None


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
    spread = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    return {
        _stem(word) for word in re.findall(r"[a-z0-9]{2,}", spread.casefold().replace("_", " "))
    }


def _stem(word: str) -> str:
    return re.sub(r"(?<=\w{3})(?:ies|ing|es|ed|e|s|y)$", "", word)
