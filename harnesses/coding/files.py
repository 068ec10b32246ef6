"""Policies in the files of a coding agent: where they are, and how its own tool reads them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool
from inspect_ai.tool import ToolCall

from constraintrot.coding_agents.drivers.agent import Agent, Place
from constraintrot.coding_agents.wire.messages import ModelRequest
from constraintrot.episode.channels.file import PATHS, READ_FILE
from constraintrot.episode.episode import Episode

# Some agents number the lines of a file.
_NUMBER = re.compile(r"^\s*\d+(?:\t|→|: |\| )", re.MULTILINE)


def read_in(episode: Episode) -> bool:
    """Return whether the agent is to read a file in the history."""
    return bool(PATHS.keys() & episode.files.keys())


def write(episode: Episode, agent: Agent, place: Place) -> None:
    """Write an episode's files."""
    work, home = place.box.work, place.box.home
    for channel, text in episode.files.items():
        if channel == "root_file":
            place.write(work / agent.rule_file, f"{text}\n")
        elif channel == "memory_file":
            place.write(home / agent.memory_file, f"{text}\n")
        elif channel == "nested_file":
            path = work / PATHS[channel]
            place.write(path.parent / agent.rule_file, f"{text}\n")
            (result,) = (m.text for turn in episode.standing for m in turn.messages[1:2])
            place.write(path, f"{result}\n")
        else:
            place.write(work / PATHS[channel], f"{text}\n")


class Reading:
    """The calls that read files, between the episode's name of them and the agent's.

    Args:
        agent: the agent, whose tool it is.
        work: the folder that it works in.
    """

    def __init__(self, agent: Agent, work: Path) -> None:
        self._agent, self._work = agent, work

    def _native(self, call: ToolCall) -> tuple[str, dict[str, object]]:
        return self._agent.read_call(self._work / str(call.arguments.get("path", "")))

    def native(self, reply: ChatMessageAssistant) -> ChatMessageAssistant:
        """A reply with the agent's own calls."""
        calls = [
            replace(call, function=made[0], arguments=made[1])
            if call.function == READ_FILE
            and call.arguments.get("path") in PATHS.values()
            and (made := self._native(call))
            else call
            for call in reply.tool_calls or []
        ]
        return reply.model_copy(update={"tool_calls": calls or None})

    def staged(self, request: ModelRequest) -> ModelRequest:
        """A request with the episode's calls, and the files' texts without their decoration."""
        native = self._agent.read_call(self._work)[0]
        tools = {
            (READ_FILE if tool.name == native else tool.name): tool
            for tool in sorted(request.tools, key=lambda tool: tool.name != native)
        }
        # A scenario's own tool of that name takes the place of the agent's.
        staged = [tool.model_copy(update={"name": name}) for name, tool in tools.items()]
        return replace(request, tools=staged, messages=self._messages(request.messages))

    def _messages(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        known = {repr(self._agent.read_call(self._work / path)): path for path in PATHS.values()}
        read: set[str] = set()
        found: list[ChatMessage] = []
        for message in messages:
            if isinstance(message, ChatMessageAssistant) and message.tool_calls:
                calls: list[ToolCall] = []
                for call in message.tool_calls:
                    path = known.get(repr((call.function, call.arguments)))
                    if path is not None:
                        read.add(call.id)
                        call = replace(call, function=READ_FILE, arguments={"path": path})
                    calls.append(call)
                message = message.model_copy(update={"tool_calls": calls})
            elif isinstance(message, ChatMessageTool) and message.tool_call_id in read:
                plain = _NUMBER.sub("", message.text)
                message = message.model_copy(update={"content": plain, "function": READ_FILE})
            found.append(message)
        return found
