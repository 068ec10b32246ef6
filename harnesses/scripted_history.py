"""An episode's history as exchanges that a framework plays: a request and its answers."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
)
from inspect_ai.tool import ToolInfo, ToolParams
from inspect_ai.util import JSONSchema

from constraintrot.episode.episode import Episode
from constraintrot.episode.messages import opening_messages
from constraintrot.errors import EpisodeError

_TYPES: dict[type[object], str] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
}


@dataclass(frozen=True)
class Exchange:
    """A user's request, and the agent's replies and calls.

    Attributes:
        replies: the agent's messages in order; all but the last call a tool.
    """

    user: ChatMessageUser
    replies: tuple[ChatMessageAssistant, ...]
    results: tuple[ChatMessageTool, ...]


def system(episode: Episode) -> str:
    (message,) = (m for m in opening_messages(episode) if isinstance(m, ChatMessageSystem))
    return message.text


def exchanges(messages: Sequence[ChatMessage]) -> list[Exchange]:
    """Return the history, request by request, in a form that a framework's own loop can play.

    A loop ends with a reply without a call. So an agent's text before a call, without a
    request in between, is merged into that call; and a call without a reply, as attacks add
    them, is made before the reply.
    """
    found: list[Exchange] = []
    group: list[ChatMessage] = []
    for message in [m for m in messages if m.role != "system"]:
        if message.role == "user" and group:
            found.append(_exchange(group))
            group = []
        group.append(message)
    return [*found, *([_exchange(group)] if group else [])]


def _exchange(group: Sequence[ChatMessage]) -> Exchange:
    user, *rest = group
    if not isinstance(user, ChatMessageUser):
        raise EpisodeError("a framework's conversation begins with a request of the user's")
    said = [m for m in rest if isinstance(m, ChatMessageAssistant) and not m.tool_calls]
    last = said[-1] if said else ChatMessageAssistant(content="Done.", id=f"{user.id}-done")
    replies: list[ChatMessageAssistant] = []
    pending: list[str] = []
    for message in rest:
        if not isinstance(message, ChatMessageAssistant) or message is last:
            continue
        if message.tool_calls:
            text = "\n\n".join(filter(None, [*pending, message.text]))
            replies.append(message.model_copy(update={"content": text}) if pending else message)
            pending = []
        else:
            pending.append(message.text)
    results = tuple(m for m in rest if isinstance(m, ChatMessageTool))
    if pending:
        last = last.model_copy(update={"content": "\n\n".join([*pending, last.text])})
    return Exchange(user, (*replies, last), results)


def tools(
    script: Iterable[Exchange], offered: Sequence[ToolInfo], lookups: Collection[str]
) -> list[ToolInfo]:
    """Return the tools that a framework registers: the offered ones and those in the history.

    Look-ups also accept the arguments of the history's calls, even wrong ones: otherwise the
    framework would refuse a call and play another history.
    """
    scripted = {tool.name: tool for tool in _as_called(script)}
    found = [
        _lenient(tool, scripted.get(tool.name)) if tool.name in lookups else tool
        for tool in offered
    ]
    known = {tool.name for tool in offered}
    return [*found, *(tool for name, tool in scripted.items() if name not in known)]


def _lenient(tool: ToolInfo, scripted: ToolInfo | None) -> ToolInfo:
    """Return a look-up without required arguments, with the types of the history's calls."""
    called = scripted.parameters.properties if scripted else {}
    properties = {**tool.parameters.properties, **called}
    return tool.model_copy(update={"parameters": ToolParams(properties=properties)})


def _as_called(script: Iterable[Exchange]) -> list[ToolInfo]:
    """Return tools that accept all of the history's calls: refused ones and their corrections."""
    made: dict[str, dict[str, list[str]]] = {}
    calls = [call for e in script for reply in e.replies for call in reply.tool_calls or []]
    for call in calls:
        kinds = made.setdefault(call.function, {})
        arguments: dict[str, object] = call.arguments
        for name, value in arguments.items():
            kind = _TYPES.get(type(value), "object")
            kinds[name] = list(dict.fromkeys([*kinds.get(name, []), kind]))
    return [
        ToolInfo(
            name=name,
            description=f"{name.replace('_', ' ').capitalize()}.",
            parameters=ToolParams(properties={arg: _any_of(kinds[arg]) for arg in kinds}),
        )
        for name, kinds in made.items()
    ]


def _any_of(kinds: Sequence[str]) -> JSONSchema:
    schemas = [{"type": kind} for kind in kinds]
    return JSONSchema.model_validate(schemas[0] if len(schemas) == 1 else {"anyOf": schemas})
