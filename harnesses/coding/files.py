"""Policies in the files of a coding agent, and the pin: our hook in the settings of its HOME.

The code of ``constraintrot pin install`` installs the hook. The agent starts it and decides
where its text goes; nothing here changes a request for that.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool
from inspect_ai.tool import ToolCall

from constraintrot.coding_agents.drivers.agent import Agent, Place
from constraintrot.coding_agents.pins.agents import agent_named
from constraintrot.coding_agents.pins.compiled import HEADING, Source, read_compiled
from constraintrot.coding_agents.pins.installing import install
from constraintrot.coding_agents.pins.record import Pin
from constraintrot.coding_agents.wire.conversation import unescaped
from constraintrot.coding_agents.wire.messages import ModelRequest
from constraintrot.defenses.pinning import pinned_block
from constraintrot.defenses.pinning.pinned_block import PinnedBlock
from constraintrot.episode.channels.file import PATHS, READ_FILE
from constraintrot.errors import EpisodeError
from constraintrot.harnesses.message_match import plain

# Some agents number the lines of a file.
_NUMBER = re.compile(r"^\s*\d+(?:\t|→|: |\| )", re.MULTILINE)


def write(files: Mapping[str, str], nested: str, agent: Agent, place: Place) -> None:
    """Write the text of each channel into its file, and ``nested`` beside the nested rule file."""
    work = place.box.work
    for channel, text in files.items():
        path = work / PATHS.get(channel, agent.rule_file)
        if channel == "memory_file":
            path = place.box.home / agent.memory_file
        elif channel == "nested_file":
            place.write(path, f"{nested}\n")
            path = path.parent / agent.rule_file
        place.write(path, f"{text}\n")


class Reading:
    """Translation of calls that read files, between the episode's form and the agent's."""

    def __init__(self, agent: Agent, work: Path) -> None:
        self._agent, self._work = agent, work

    def _native(self, call: ToolCall) -> tuple[str, dict[str, object]]:
        return self._agent.read_call(self._work / str(call.arguments.get("path", "")))

    def native(self, reply: ChatMessageAssistant) -> ChatMessageAssistant:
        """Return a reply with its file-reading calls in the agent's form."""
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
        """Return a request with calls in the episode's form and file texts without line numbers."""
        native = self._agent.read_call(self._work)[0]
        tools = {
            (READ_FILE if tool.name == native else tool.name): tool
            for tool in sorted(request.tools, key=lambda tool: tool.name != native)
        }
        # A scenario's own tool of that name replaces the agent's.
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


_RULES = "rules.txt"


def install_pins(pins: PinnedBlock, agent: Agent, place: Place) -> str:
    """Install a registry's pins for an agent; return the hook's text, empty without pins.

    If their heading is the default, that of ``constraintrot pin install`` replaces it.
    """
    contents = list(pins.rendering().contents.values())
    if not contents:
        # The floor condition has no policy.
        return ""
    rules = place.box.folder / _RULES
    place.write(rules, "\n\n".join(contents) + "\n")
    pin = Pin(agent_named(agent.name), "user", place.box.work, place.box.home)
    heading = HEADING if pins.heading == pinned_block.HEADING else pins.heading
    install(pin, Source("rules", rules), heading=heading)
    return str(read_compiled(pin.folder)["text"])


def roles_of(text: str, messages: Sequence[ChatMessage]) -> list[str]:
    """Return the roles of the messages that hold a hook's whole text."""
    sought = plain(unescaped(text))
    return [
        message.role for message in messages if sought and sought in plain(unescaped(message.text))
    ]


def check_held(text: str, messages: Sequence[ChatMessage], title: str) -> None:
    """Raise EpisodeError if an agent's request does not hold its hook's text."""
    if text and not roles_of(text, messages):
        raise EpisodeError(
            f"{title} asked its model without the pin: its hook is installed, and the hook's text"
            " is not in the request, so this is no measurement of a pin"
        )
