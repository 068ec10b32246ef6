"""The channel of a tool's result: a file, an MCP server, or another tool."""

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import replace

from constraintrot.coding_agents.sessions.events import Call, Channel, Message
from constraintrot.coding_agents.sessions.json_lines import call

_READS = frozenset(
    ["read", "read_file", "readfile", "view", "cat", "open_file", "read_many_files", "view_file",
     "read_document", "notebookread"]
)  # fmt: skip
_PATHS = ("file_path", "filePath", "absolute_path", "path", "filename", "file", "paths")
_MCP = re.compile(r"^mcp__|^mcp_|^[a-z0-9-]+__[a-z0-9_]+$|^namespace:", re.IGNORECASE)
# Instruction files that agents load by themselves.
_PROJECT = re.compile(r"(?:^|[\\/])(?:AGENTS|CLAUDE|GEMINI|QWEN)(?:\.\w+)*\.md$", re.IGNORECASE)
_SHELL_READ = re.compile(
    r"\b(?:cat|head|tail|less|more|sed -n|bat)\b[^|;&\n]*?([\w./~-]+\.\w{1,8})"
)
_SHELLS = frozenset(
    ["bash", "shell", "exec_command", "run_shell_command", "local_shell", "container.exec"]
)
# Line numbers in the files that agents show.
_LINE_NUMBER = re.compile(r"^[ \t]*\d+(?:\t|→|: |\| )", re.MULTILINE)
# opencode and Gemini CLI append these to a result if its folder has an instruction file.
_NESTED = (
    ("<system-reminder>\nInstructions from: ", "\n</system-reminder>"),
    ("--- Newly Discovered Project Context ---\n", "\n--- End Project Context ---"),
)
_FROM = re.compile(r"(\S[^\n]{0,1000}?)(?: ---)?\n")
_HEAD = re.compile(r"^(?:Instructions from: |--- Context from: )", re.MULTILINE)
_END = re.compile(r"^--- End of Context from: [^\n]*", re.MULTILINE)
# The beginning of a longer command names the file that is read.
_LONGEST_COMMAND = 500
# Calls that are remembered until their result; a session may have millions.
_WAITING = 5000


class Calls:
    """The calls without a result so far, by the vendor's identifier."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, Call] = OrderedDict()

    def made(self, key: object, function: object, arguments: object) -> Call:
        """Note a call under the vendor's identifier, and return it with its arguments decoded."""
        named = key if isinstance(key, str) else ""
        made = replace(call(function, arguments), key=named)
        if named:
            # Without written contents: only the name and the path are needed later.
            self._waiting[named] = Call(made.function, _short(made.arguments))
            if len(self._waiting) > _WAITING:
                self._waiting.popitem(last=False)
        return made

    def known(self, key: object) -> bool:
        return isinstance(key, str) and key in self._waiting

    def answered(self, key: object, name: str = "") -> tuple[Channel, str]:
        # Not taken out: some agents write a result twice.
        made = self._waiting.get(key) if isinstance(key, str) else None
        return came_by(made or Call(name, {}))

    def result(
        self, asked: object, text: str, line: int, time: str, key: str = "", name: str = ""
    ) -> Message:
        """Return a result's message; its channel is "nested file" for an instruction file.

        ``asked`` is the vendor's identifier of the call; ``name`` is the tool of an unnoted call.
        """
        channel, origin = self.answered(asked, name)
        channel = "nested file" if is_project_file(origin) else channel
        answers = asked if isinstance(asked, str) else ""
        return Message("tool", text, channel, line, time, origin, key, answers=answers)


def came_by(call: Call) -> tuple[Channel, str]:
    """Return the channel and the origin of a call's result."""
    name = call.function
    if _MCP.search(name):
        return "mcp", name
    path = next((str(call.arguments[one]) for one in _PATHS if call.arguments.get(one)), "")
    if not path and name.lower() in _SHELLS:
        command = str(call.arguments.get("command") or call.arguments.get("cmd"))
        shown = _SHELL_READ.search(command[:_LONGEST_COMMAND])
        path = shown[1] if shown else ""
        return ("file", path) if path else ("tool", name)
    if name.lower() in _READS and path:
        return "file", path
    return "tool", name


def with_nested(message: Message) -> Iterator[Message]:
    """Yield a tool's result, and separately the instruction files that the agent appended to it."""
    text, files = message.text, list[tuple[str, str]]()
    for opening, closing in _NESTED:
        start = text.find(opening)
        if start >= 0:
            end = text.find(closing, start)
            end = len(text) if end < 0 else end
            files += _files(text[start + len(opening) : end])
            text = (text[:start] + text[end + len(closing) :]).strip()
    if not files:
        yield message
        return
    yield replace(message, text=text)
    for path, told in files:
        yield Message(
            "user", told, "nested file", message.line, message.time, path, f"{message.key}:{path}"
        )


def _files(text: str) -> Iterator[tuple[str, str]]:
    """Yield a text's instruction files: path and text; the path is empty without a heading."""
    for part in _HEAD.split(_END.sub("", text)):
        found = _FROM.match(part)
        if part.strip(" -\n") and found is not None and is_project_file(found[1]):
            told = part[found.end() :].strip()
            yield from [(found[1], told)] * bool(told)
        elif part.strip(" -\n"):
            yield "", part.strip()


def without_line_numbers(text: str) -> str:
    """Return a text without its line numbers, if more than a third of the lines have one."""
    lines = text.count("\n") + 1
    return _LINE_NUMBER.sub("", text) if len(_LINE_NUMBER.findall(text)) > lines / 3 else text


def is_project_file(path: str) -> bool:
    """Return whether a path is one of the instruction files that agents load by themselves."""
    return _PROJECT.search(path) is not None


def _short(arguments: Mapping[str, object]) -> dict[str, object]:
    return {
        name: str(value)[:500]
        for name, value in arguments.items()
        if name in _PATHS or name in ("command", "cmd")
    }
