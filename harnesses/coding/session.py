"""An episode in a coding agent: answers to its requests, with simulated tool calls."""

import hashlib
from collections.abc import Sequence
from typing import Any, Literal, NoReturn, TypeAlias

import anyio
from inspect_ai.log import transcript
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser

from constraintrot.coding_agents.catalogue import Mode
from constraintrot.coding_agents.drivers.agent import Agent
from constraintrot.coding_agents.wire.answers import WindowFullError
from constraintrot.coding_agents.wire.messages import ModelRequest, Usage, with_arguments
from constraintrot.compaction.rounds import Compacted
from constraintrot.episode.episode import Episode
from constraintrot.episode.messages import (
    ORIGIN,
    history_segments,
    opening_messages,
    standing_messages,
)
from constraintrot.errors import EpisodeError
from constraintrot.evaluation.play_settings import PlaySettings
from constraintrot.harnesses.coding.files import Reading, check_held, roles_of
from constraintrot.harnesses.message_match import plain
from constraintrot.harnesses.scripted_history import exchanges
from constraintrot.harnesses.session import DONE, Asked, Session
from constraintrot.tokens import count

Kind: TypeAlias = Literal["agent", "summary", "side", "sub-agent"]
SOURCE = "coding agent"


class CodingSession(Session):
    """A session whose framework is a program that asks over HTTP.

    Attributes:
        reading: translation of calls that read files; None if the history has none.
        pinned: the text that the agent's hook hands out; empty without a pin.
        failed: set at a fault that the agent could hide.
        turn: number of the user's request that is answered, from 1.
        due: the turns after which, or for some agents within which, a compaction is due.
        compactions: number of compactions; an agent may ask for several summaries in one.
    """

    def __init__(
        self,
        episode: Episode,
        settings: PlaySettings,
        agent: Agent,
        version: str,
        *,
        mode: Mode,
        live: bool,
    ) -> None:
        super().__init__(episode, settings, live=live, distribution=agent.package.title)
        self.agent, self.mode, self._version = agent, mode, version
        self.summarizes = True
        self.failed = anyio.Event()
        self.turn = 0
        self.due = _ends(self.episode)
        self.compactions = 0
        self._asked_for_summary = False
        self._requests: list[dict[str, Any]] = []
        self.reading: Reading | None = None
        self.pinned = ""

    @property
    def framework(self) -> str:
        return f"{self.distribution} {self._version}"

    @property
    def threshold(self) -> bool:
        """Whether the agent compacts at its own threshold."""
        return self.compacts and self.mode == "auto"

    def kind(self, request: ModelRequest) -> Kind:
        if self.agent.is_summary(request):
            return "summary"
        offered = {tool.name for tool in request.tools}
        return "agent" if {tool.name for tool in self.tools} <= offered else "side"

    async def reply(self, request: ModelRequest) -> tuple[ChatMessageAssistant, Usage]:
        """Return the answer to a request, and the token usage that it reports."""
        request = request.less(self.agent.added)
        if self.reading is not None:
            request = self.reading.staged(request)
        kind = self.kind(request)
        size = count(str(request.request.body))
        if kind == "summary":
            self.compactions += not self._asked_for_summary
        self._asked_for_summary = kind == "summary"
        if kind == "agent" and self._refuses:
            self._log(request, "side", ChatMessageAssistant(content=""), size, Usage(size, 0))
            raise WindowFullError
        if kind == "summary":
            text = self.agent.shaped(await self.summarize(request.messages))
            reply = ChatMessageAssistant(content=text)
        elif kind == "agent" and self._unasked():
            # Some agents continue on their own after a compaction, outside the script.
            kind, reply = "side", ChatMessageAssistant(content=DONE)
        elif kind == "agent":
            reply = await self.answer(request.messages, request.tools)
        else:
            reply = ChatMessageAssistant(content=DONE)
        usage = self._usage(kind, reply, size)
        self._log(request, kind, reply, size, usage)
        reply = reply if self.reading is None else self.reading.native(reply)
        return with_arguments(reply, self.agent.added), usage

    def _unplayed(self) -> dict[str, Sequence[ChatMessage]]:
        """Return only the replies: results of files that the agent itself reads are not played."""
        return {"replies": self._replies}

    @property
    def is_due(self) -> bool:
        """Whether a compaction is due after the current turn, or before the next."""
        done = self.compactions
        return self.compacts and done < len(self.due) and self.turn >= self.due[done]

    @property
    def _refuses(self) -> bool:
        """Whether to refuse the request as longer than the window, which makes the agent compact."""
        ended = self.is_due and self.turn > self.due[self.compactions]
        return self.agent.full_on == "refusal" and self.threshold and ended

    def _unasked(self) -> bool:
        """Return whether a request follows a compaction in an answered scripted turn."""
        scripted = not self._final and not self.live
        return scripted and not self._replies and bool(self.summaries)

    def _usage(self, kind: Kind, reply: ChatMessageAssistant, size: int) -> Usage:
        written = count(reply.text) + 1
        return Usage(self.agent.full if self._fills(kind, reply) else size, written)

    def _fills(self, kind: Kind, reply: ChatMessageAssistant) -> bool:
        """Return whether the reply reports a full window, so that the agent compacts next."""
        if kind == "summary":
            return self.agent.full_summary
        if not self.threshold or not self.is_due or kind != "agent" or self._final:
            return False
        return self.agent.full_on == ("call" if reply.tool_calls else "reply")

    def _log(
        self,
        request: ModelRequest,
        kind: Kind,
        reply: ChatMessageAssistant,
        size: int,
        usage: Usage,
    ) -> None:
        entry = {
            "number": len(self._requests) + 1,
            "turn": self.turn,
            "kind": kind,
            "protocol": request.request.protocol,
            "tokens": size,
            "reported_tokens": usage.input + usage.output,
            "messages": len(request.messages),
            "tools": len(request.tools),
            "policy_in": holding(plain(self.episode.policy), plain_texts(request.messages)),
        }
        if self.pinned:
            entry["pin_in"] = roles_of(self.pinned, request.messages)
        self._requests.append(entry)
        calls = [call.function for call in reply.tool_calls or []]
        told: dict[str, Any] = {**entry, "answer": reply.text, "calls": calls}
        transcript().info(told, source=SOURCE)

    def check_pinned(self, messages: Sequence[ChatMessage]) -> None:
        """Check the pin in the request with the trigger; ``pin_in`` records the others.

        An agent hands out the pin at its own events, and Gemini CLI compacts between two
        events; whether other requests within a turn hold it is a result.
        """
        if self._final and not self._asked:
            check_held(self.pinned, messages, self.agent.package.title)

    def check_unpinned(self, messages: Sequence[ChatMessage]) -> None:
        """Check nothing: these agents may show their summarizer the pin; ``pin_in`` records it."""

    def _failed(self, error: Exception) -> NoReturn:
        self.failed.set()
        super()._failed(error)

    def broke(self, error: Exception) -> None:
        """Record an error outside an answer, such as an unreadable request."""
        self._fault = self._fault or error
        self.failed.set()

    def tagged(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """Tag messages as a session does, also in text that the agent adds around the user's."""
        found: list[ChatMessage] = []
        staged = [(m, plain(m.text)) for m in self.history if m.role == "user" and m.text]
        apart = [part for message in messages for part in self._apart(message)]
        for message in super().tagged(apart):
            if message.role == "user" and (message.metadata or {}).get(ORIGIN) == "framework":
                text = plain(message.text)
                within = next((m for m, known in staged if known in text), None)
                if within is not None:
                    message = message.model_copy(
                        update={"metadata": within.metadata, "source": within.source}
                    )
            found.append(message)
        return found

    def _apart(self, message: ChatMessage) -> list[ChatMessage]:
        """Split the trigger from the agent's additions in the same user message.

        A hook's text or a re-attached file may be a policy; the trigger is not, and is left
        out of the search for policies.
        """
        if message.role != "user" or self.trigger not in message.text:
            return [message]
        before, _, after = message.text.partition(self.trigger)
        texts = [before.rstrip(), self.trigger, after.lstrip()]
        return [ChatMessageUser(content=text) for text in texts if text]

    def _compacted(self, asked: Asked) -> Compacted | None:
        compacted = super()._compacted(asked)
        if compacted is not None and self.compactions < len(self.due):
            raise EpisodeError(
                f"{self.agent.package.title} compacted {self.compactions} times before the trigger,"
                f" not {len(self.due)}; give a larger context_tokens"
            )
        return compacted

    def _facts(self, sent: Sequence[ChatMessage]) -> dict[str, Any]:
        return {
            **super()._facts(sent),
            "agent_requests": self._requests,
            "agent_compaction": self.mode if self.compacts else None,
            "agent_compactions": self.compactions,
        }


def plain_texts(messages: Sequence[ChatMessage]) -> list[tuple[str, str]]:
    return [(message.role, plain(message.text)) for message in messages]


def holding(policy: str, texts: Sequence[tuple[str, str]]) -> list[str]:
    """Return the role and a text digest of each message that holds a policy verbatim."""
    return [
        f"{role} {hashlib.sha256(text.encode()).hexdigest()[:8]}"
        for role, text in texts
        if policy in text
    ]


def _ends(episode: Episode) -> list[int]:
    """Return the number of the last turn before each compaction."""
    said = [*opening_messages(episode), *standing_messages(episode)]
    ends: list[int] = []
    for segment in history_segments(episode):
        said += segment
        ends.append(len(exchanges(said)))
    return ends
