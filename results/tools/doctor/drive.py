"""Sessions made by driving the real coding agents: each script, played against a scripted model.

``python -m results.tools.doctor.drive --sessions-each 4``: each installed agent (``constraintrot
agents install``) runs in its throw-away box without a network, is told what the script's user
says, and asks a loopback endpoint that answers as the script does and says when the window is
full. What the agent then compacts, keeps and writes to disk is its own. Kept in ``sessions/``: the
session file without the agent's own texts, and what is true of it, taken from the requests that
the agent really sent: a rule that stands in the first one after a compaction is verbatim there,
and of another the summary's wording says the state.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any, cast

import anyio
import yaml
from inspect_ai.model import ChatMessageAssistant
from inspect_ai.tool import ToolCall, ToolInfo, ToolParams
from inspect_ai.util import JSONSchema

from constraintrot.coding_agents.box import opened
from constraintrot.coding_agents.drivers import DRIVERS
from constraintrot.coding_agents.drivers.agent import Agent, Dialogue, Place
from constraintrot.coding_agents.install import needed
from constraintrot.coding_agents.wire.messages import ModelRequest, Usage
from constraintrot.harnesses.coding.play import serve
from constraintrot.harnesses.coding.session import CodingSession
from constraintrot.harnesses.message_match import plain
from constraintrot.tokens import count
from results.tools.doctor import sanitise, script
from results.tools.doctor.driven import FOLDER, PROJECT_RULE
from results.tools.doctor.script import Half, Script, Step, Truth

DONE = "Done."
_SYSTEM = "You help with a small shop."
_READ = "read"
# Where agents keep sessions, below HOME.
_FILES = {
    "claude": ".claude/projects/*/*.jsonl",
    "codex": ".codex/sessions/*/*/*/rollout-*.jsonl",
    "opencode": ".local/share/opencode/opencode.db",
    "gemini": ".gemini/tmp/*/chats/session-*.jsonl",
    "pi": ".pi/agent/sessions/*/*.jsonl",
}


@dataclass
class Exchange:
    """What the user says, and all that the agent does until it is the user's turn again.

    Attributes:
        says: the user's text.
        calls: tool calls with their results.
        answer: what the agent says at the end.
        summary: what it answers where it is asked for a summary next; empty where it is not.
    """

    says: str
    calls: list[Step] = field(default_factory=list[Step])
    answer: str = ""
    summary: str | None = None


def exchanges(steps: Sequence[Step]) -> list[Exchange]:
    """A script as exchanges; what comes before the user's first word is left out."""
    found: list[Exchange] = []
    for step in steps:
        if step.kind == "user":
            found.append(Exchange(step.text))
        elif step.kind == "call":
            found[-1].calls.append(step)
        elif step.kind == "compact":
            found[-1].summary = step.text
        else:
            found[-1].answer = f"{found[-1].answer} {step.text}".strip()
    return found


class Played:
    """What stands at the endpoint in a model's place, for one agent and script.

    Attributes:
        after: the texts of the first request after each compaction.
        last: the texts of the last request.
        fault: why an answer could not be given.
    """

    def __init__(self, agent: Agent, made: Script, work: Path) -> None:
        self.exchanges = exchanges(made.steps)
        self.after: list[list[str]] = []
        self.last: list[str] = []
        self.fault: Exception | None = None
        self._agent, self._work = agent, work
        self._at = -1
        self._left: list[Step] = []
        self._results: list[Step] = []
        self._summaries = [one.summary for one in self.exchanges if one.summary is not None]
        self._compacted, self._awaited = -1, False
        self._numbers = 0

    def turn(self) -> str:
        """Begin the next exchange; what the user says."""
        self._at += 1
        self._left = list(self.exchanges[self._at].calls)
        self._results = [one for one in self._left if one.tool != _READ]
        return self.exchanges[self._at].says

    @property
    def unfinished(self) -> bool:
        """Whether calls of this exchange were never asked for."""
        return bool(self._left)

    async def reply(self, request: ModelRequest) -> tuple[ChatMessageAssistant, Usage]:
        """The answer to a request of the agent's, and the tokens it is said to have taken."""
        size = count(str(request.body))
        if self._agent.is_summary(request):
            return self._summary(size)
        if not {"handbook"} <= {tool.name for tool in request.tools}:
            return ChatMessageAssistant(content=DONE), Usage(size, 1)
        self.last = [plain(message.text) for message in request.messages]
        if self._awaited:
            self._awaited = False
            self.after.append(self.last)
        full = self._is_full()
        if self._left:
            reply = self._call(self._left.pop(0))
            full = full and self._agent.full_on == "call" and not self._left
        else:
            reply = ChatMessageAssistant(content=self.exchanges[self._at].answer or DONE)
            full = full and self._agent.full_on == "reply"
        return reply, Usage(self._agent.full if full else size, count(reply.text) + 1)

    def _is_full(self) -> bool:
        due = sum(one.summary is not None for one in self.exchanges[: self._at + 1])
        return self.exchanges[self._at].summary is not None and due > self._compacted + 1

    def _summary(self, size: int) -> tuple[ChatMessageAssistant, Usage]:
        if not self._awaited:
            self._compacted += 1
            self._awaited = True
        text = self._agent.shaped(self._summaries[self._compacted] or "")
        used = self._agent.full if self._agent.full_summary else size
        return ChatMessageAssistant(content=text), Usage(used, count(text) + 1)

    def _call(self, step: Step) -> ChatMessageAssistant:
        name, arguments = _plain_name(step.tool), step.arguments
        if step.tool == _READ:
            name, arguments = self._agent.read_call(self._work / step.arguments["path"])
        self._numbers += 1
        call = ToolCall(id=f"call_{self._at}_{self._numbers}", function=name, arguments=arguments)
        return ChatMessageAssistant(content="", tool_calls=[call])

    def tool(self, name: str, arguments: dict[str, Any]) -> str:
        """What a simulated tool gives back."""
        for at, step in enumerate(self._results):
            if _plain_name(step.tool) == name:
                return self._results.pop(at).text
        return DONE

    def broke(self, error: Exception) -> None:
        """Note why an answer could not be given."""
        self.fault = self.fault or error


def _plain_name(tool: str) -> str:
    return tool.rpartition("__")[2]


def tools(made: Script) -> tuple[ToolInfo, ...]:
    """What the script's MCP server offers: all that is called but the agent's own reading."""
    called = {_plain_name(one.tool): one.arguments for one in made.steps if one.kind == "call"}
    called = {"handbook": {"topic": ""}} | {k: v for k, v in called.items() if k != _READ}
    return tuple(
        ToolInfo(
            name=name,
            description=name.replace("_", " "),
            parameters=ToolParams(
                properties={key: JSONSchema(type="string") for key in arguments},
            ),
        )
        for name, arguments in called.items()
    )


def scripts(agents: Sequence[str], each: int) -> Iterator[Script]:
    """Scripts for the agents; other ones than those that are written by hand."""
    known = script.rules()
    work: dict[str, list[str]] = yaml.safe_load(script.TEXTS.read_text(encoding="utf-8"))
    halves: tuple[Half, ...] = ("tuning", "held_out")
    groups = {
        half: script.chosen([one for one in known.values() if one["half"] == half], "driven")
        for half in halves
    }
    for name in DRIVERS:
        for number in range(each):
            half = halves[number % 2]
            group = groups[half].pop()
            made = script.script(
                f"{name}-{number}", "", half, group, work, Random(f"{name} {number}")
            )
            if name in agents:
                steps = tuple(_apart(_opened(made.steps, name)))
                yield replace(made, form=name, steps=steps)


def _apart(steps: Iterable[Step]) -> Iterator[Step]:
    """Each read of a file by a name of its own: they are real files here."""
    for number, step in enumerate(steps):
        if step.tool == _READ:
            path = Path(step.arguments["path"])
            step = replace(step, arguments={"path": str(path.with_stem(f"{path.stem}-{number}"))})
        yield step


def _opened(steps: Sequence[Step], agent: str) -> tuple[Step, ...]:
    """With a file read before each compaction, where the agent compacts within a turn only."""
    if DRIVERS[agent].full_on != "call":
        return tuple(steps)
    found: list[Step] = []
    for step in steps:
        if step.kind == "compact":
            found.append(
                Step(
                    "call",
                    "It is open from nine to five.",
                    "mcp__office__handbook",
                    {"topic": "hours"},
                )
            )
        found.append(step)
    return tuple(found)


async def play(agent: Agent, made: Script, keep: Path) -> Played:
    """Drive an agent through a script; its sessions are copied to a folder before it is ended."""
    async with opened("none") as box:
        place = Place(box, needed(agent.package), _SYSTEM, tools(made), True, True)
        place.write(box.work / agent.rule_file, f"{PROJECT_RULE}\n")
        for step in made.steps:
            if step.tool == _READ:
                place.write(box.work / step.arguments["path"], step.text)
        place.write_tools()
        agent.prepare(place)
        played = Played(agent, made, box.work)
        async with serve(cast("CodingSession", played), box.socket):
            with anyio.fail_after(400):
                dialogue: Dialogue = await agent.start(place)
                for _ in played.exchanges:
                    await dialogue.say(played.turn())
                    if played.fault is not None:
                        raise played.fault
                    if played.unfinished:
                        raise RuntimeError(f"{made.name}: the agent left calls unasked")
            for path in box.home.glob(f"{_FILES[made.form]}*"):
                shutil.copy(path, keep)
        return played


def truths(made: Script, played: Played, fates: dict[str, str]) -> tuple[Truth, ...]:
    """What is true of each rule, by the requests that the agent sent."""
    known = script.rules()
    found: list[Truth] = []
    for one in made.truths:
        text = plain(known[one.rule]["text"])
        states = tuple(
            "verbatim" if any(text in told for told in texts)
            else script.FATES[fates[one.rule]] if number == 0 and fates[one.rule] != "kept" else "lost"
            for number, texts in enumerate(played.after)
        )  # fmt: skip
        found.append(replace(one, states=states))
    return tuple(found)


def _in_context(made: Script, played: Played) -> dict[str, list[str]]:
    """What the script said that the last request holds, and what it does not."""
    texts = [one.text for one in made.steps[:-1] if one.kind != "compact" and len(one.text) > 25]
    parts = list(dict.fromkeys(max(text.splitlines(), key=len) for text in texts))
    held = [part for part in parts if any(plain(part) in text for text in played.last)]
    return {"in_context": held, "out_of_context": [part for part in parts if part not in held]}


def drive(made: Script, raw: Path | None) -> None:
    """Play a script, and keep its session and what is true of it."""
    agent = DRIVERS[made.form]
    with tempfile.TemporaryDirectory() as scratch:
        played = anyio.run(play, agent, made, Path(scratch))
        due = sum(one.kind == "compact" for one in made.steps)
        if len(played.after) != due:
            raise RuntimeError(f"{made.name}: {len(played.after)} compactions of {due}")
        copied = [one for one in Path(scratch).iterdir() if one.suffix in (".jsonl", ".db")]
        path = max(copied, key=lambda one: one.stat().st_size)
        if raw is not None:
            shutil.copytree(scratch, raw / made.name, dirs_exist_ok=True)
        told = {
            "agent": made.form, "version": needed(agent.package).version, "half": made.half,
            "rule_file": agent.rule_file,
            "truths": [asdict(one) | {"states": list(one.states)} for one in truths(made, played, dict(made.fates))],
            **_in_context(made, played),
            "project_rule": [any(plain(PROJECT_RULE) in text for text in one) for one in played.after],
        }  # fmt: skip
        FOLDER.mkdir(exist_ok=True)
        sanitise.write(path, FOLDER / made.name, known(made))
        (FOLDER / f"{made.name}.yaml").write_text(
            yaml.safe_dump(told, sort_keys=False), encoding="utf-8"
        )


def known(made: Script) -> list[str]:
    """All that a script says, in its parts too."""
    return [*_texts(made), PROJECT_RULE, _SYSTEM, DONE]


def _texts(made: Script) -> Iterator[str]:
    for step in made.steps:
        yield step.text
        yield from (str(value) for value in step.arguments.values())
        yield from re.split(r"(?<=[.!?]) ", step.text)


def main() -> None:
    """Drive the agents."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--agents", nargs="+", choices=list(DRIVERS), default=list(DRIVERS))
    parser.add_argument("--sessions-each", type=int, default=4)
    parser.add_argument("--raw", type=Path, help="keep the agents' own files here, to be looked at")
    given = parser.parse_args()
    for made in scripts(given.agents, given.sessions_each):
        if not (FOLDER / f"{made.name}.yaml").exists():
            drive(made, given.raw)
            print(made.name, flush=True)


if __name__ == "__main__":
    main()
