"""The scripted model of a proof: it reports a full context once, and keeps each request."""

import json
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final

from constraintrot.coding_agents.wire.answers import Answer, Call, Json
from constraintrot.coding_agents.wire.conversation import Request, Said, unescaped

TURN: Final = "CHECK-TURN-"
"""The beginning of each of our turns."""
SUMMARY: Final = "CHECK-SUMMARY of what was said"
"""The text of every summary."""
# Each agent uses the part in its own format.
_SUMMARY_TEXT: Final = (
    f"<analysis>short</analysis>\n<summary>{SUMMARY}.</summary>\n"
    f"<state_snapshot><overall_goal>{SUMMARY}.</overall_goal></state_snapshot>"
)
_SUMMARY_WORDS: Final = ("summar", "state_snapshot", "handoff", "checkpoint")
_USED: Final = 1000


@dataclass(frozen=True)
class Heard:
    said: tuple[Said, ...]
    tools: tuple[str, ...]
    summary: bool

    def roles_of(self, text: str) -> list[str]:
        """Return the roles of the messages that hold a whole text, once per occurrence."""
        sought = unescaped(text)
        return [one.role for one in self.said for _ in range(unescaped(one.text).count(sought))]

    def verbatim(self, text: str) -> bool:
        return any(text in one.text for one in self.said)


@dataclass
class Script:
    """A model that compacts an agent once."""

    full: str = ""  # the turn at which the reply reports a full context
    used: int = _USED  # tokens that this reply reports
    # A tool to call at that turn, for agents that compact only within a turn.
    call: tuple[str, dict[str, Any]] | None = None
    requests: list[Heard] = field(default_factory=list[Heard])
    _lock: Lock = field(default_factory=Lock)
    _done: bool = False

    def ask(self, request: Request) -> Future[Answer]:
        done: Future[Answer] = Future()
        done.set_result(self.reply(request))
        return done

    def reply(self, request: Request) -> Answer:
        """Keep a request, and return its answer."""
        tools = tuple(one.name for one in request.offered)
        summary = _asks_for_summary(request.said, tools)
        with self._lock:
            self.requests.append(Heard(tuple(request.said), tools, summary))
            if summary:
                # Some agents compute the new size from this usage.
                return _answer(request, _SUMMARY_TEXT, max(self.used, _USED))
            last = _last_user(request.said)
            # Only once: an agent that keeps the turn would compact forever.
            if self.full and self.full in last and tools and not self._done:
                self._done = True
                return _answer(request, "ok.", self.used, self.call)
            return _answer(request, "ok.", _USED)

    def size(self, body: Json) -> int:
        """Return the same size for every request; only ``used`` reports a full context."""
        return _USED

    def tool(self, name: str, arguments: Json) -> str:
        """Return an empty text: no scenario's tools are offered."""
        return ""

    def broke(self, error: Exception) -> None:
        """Ignore the error: the agent gets it, and the proof shows the effect."""


def _answer(
    request: Request, text: str, used: int, call: tuple[str, dict[str, Any]] | None = None
) -> Answer:
    if call is not None:
        return Answer("", [Call("call_1", *call)], used, model=request.model)
    if request.body.get("generationConfig", {}).get("responseMimeType") == "application/json":
        # Gemini CLI asks who speaks next.
        text = json.dumps({"reasoning": text, "next_speaker": "user"})
    return Answer(text, (), used, max(1, len(text) // 4), request.model)


def _last_user(said: list[Said]) -> str:
    """Return the user's last text that holds one of our turns, else the user's last text."""
    users = [one.text for one in said if one.role == "user"]
    return next((text for text in reversed(users) if TURN in text), users[-1] if users else "")


def _asks_for_summary(said: list[Said], tools: tuple[str, ...]) -> bool:
    system = " ".join(one.text for one in said if one.role == "system")[:600]
    if "title" in system.lower():
        return False
    spoken = [at for at, one in enumerate(said) if one.role in ("assistant", "tool")]
    newest = [one.text for one in said[spoken[-1] + 1 if spoken else 0 :] if one.role == "user"]
    asked = any(word in text.lower() for text in newest for word in _SUMMARY_WORDS)
    # Agents send the history as one text without tools, or the request as one more message.
    return asked and (not tools or not any(TURN in text for text in newest))
