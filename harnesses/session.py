"""A conversation that an agent framework drives: what its models are asked and answer.

A framework's adapter hands every call of its agent's model to ``answer``, every
call of its summarizer's to ``summarize``, and every tool to ``tool``; ``run``
plays the history, puts the trigger, and says what came of it. Nothing is
patched: the framework's own loop and its own context manager decide what is
sent. What a framework swallows is kept here, so that a summarizer that failed
is an error of the sample and no survival.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, NoReturn

from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    get_model,
)
from inspect_ai.tool import ToolInfo

from constraintrot.compaction.rounds import Compacted, Round, diff
from constraintrot.compactors.turns import SUMMARY
from constraintrot.defenses import Defense
from constraintrot.defenses.pinning.pinned_block import Board
from constraintrot.episode.episode import Episode
from constraintrot.episode.messages import ORIGIN, message_texts, trigger_messages
from constraintrot.errors import EpisodeError
from constraintrot.evaluation.play_settings import PlaySettings
from constraintrot.grading.survival import survival
from constraintrot.harnesses import Played, _script
from constraintrot.harnesses._roles import problem
from constraintrot.harnesses.replay import (
    Clock,
    approved,
    check_trigger,
    config_for,
    costs,
    offered,
    read_output,
)
from constraintrot.tokens import count

# How often a live agent may call tools within one turn.
MAX_STEPS = 8
DONE = "Done."
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class _Asked:
    """A call of the agent's model after the trigger.

    Attributes:
        left: what the framework would send.
        sent: the same after a defense that is no hook of the framework's.
        output: the answer.
    """

    left: list[ChatMessage]
    sent: list[ChatMessage]
    output: ModelOutput


class Session:
    """An episode, as a framework plays it.

    Args:
        episode: the staged conversation.
        plan: the settings.
        live: the agent's model plays the history too, over simulated tools.
        distribution: the framework's, whose version is recorded.

    Attributes:
        system: the system message's text.
        tools: all that the framework is to register: those on offer, and those
            that the history's calls need.
        script: the history, request by request.
        pins: what a drop-in hook pins; None without the defense.
        summarizes: the framework was given a summarizer, which it may not call.
    """

    def __init__(
        self, episode: Episode, plan: PlaySettings, *, live: bool, distribution: str
    ) -> None:
        self.episode, self.plan, self.live = episode, plan, live
        self.distribution = distribution
        self.system = _script.system(episode)
        self.history = _script.history(episode)
        self.script = _script.exchanges(self.history)
        self.offered = offered(episode, plan.scaffold)
        self.tools = [*self.offered, *_script.tools(self.script, self.offered)]
        self.trigger = trigger_messages(episode)[-1].text
        self.defense = plan.defense.make(episode.declared)
        self.pins = _framework_pins(self.defense)
        self.summarizes = False
        self.shown: list[list[ChatMessage]] = []
        self.summaries: list[str] = []
        self._clock = Clock()
        self._agent = get_model(role="agent")
        self._summarizer = get_model(role="summarizer", default=self._agent)
        self._replies: list[ChatMessageAssistant] = []
        self._results: list[ChatMessageTool] = []
        self._final = False
        self._steps = 0
        self._asked: list[_Asked] = []
        self._seen: list[ChatMessage] = []
        self._fault: Exception | None = None

    @property
    def compacts(self) -> bool:
        """Whether the framework is to compact; else its context is to stay whole."""
        return self.plan.condition.compacts

    def size(self, count_text: Callable[[str], int] = count) -> int:
        """The history's size by some counter of texts, the system message left out."""
        return sum(count_text(text) for text in message_texts(self.history[1:]))

    async def run(self, say: Callable[[str], Awaitable[object]]) -> Played:
        """Play the history and put the trigger.

        Args:
            say: has the framework answer a request of the user's.

        Raises:
            EpisodeError: a compaction that was due did not happen; the trigger did
                not reach the model whole; the model was never asked; a call of the
                summarizer's failed, even where the framework went on.
        """
        for exchange in self.script:
            self._replies, self._results = list(exchange.replies), list(exchange.results)
            self._steps = 0
            await self._said(say, exchange.user.text)
        self._final, self._steps, self._results = True, 0, []
        await self._said(say, self.trigger)
        if not self._asked:
            raise EpisodeError("the framework never asked the agent's model about the trigger")
        return await self._played()

    async def _said(self, say: Callable[[str], Awaitable[object]], text: str) -> None:
        try:
            await say(text)
        except Exception:
            # A framework may wrap what went wrong until nobody knows it again.
            if self._fault is not None:
                raise self._fault from None
            raise
        if self._fault is not None:
            raise self._fault
        if not self._final and not self.live and self._replies:
            raise EpisodeError(f"the framework left {len(self._replies)} scripted replies unasked")

    async def answer(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolInfo]
    ) -> ChatMessageAssistant:
        """What the agent says next: as scripted, and to the trigger as its model does.

        Calls in the answer to the trigger are kept to be graded; the framework is
        told that all is done, so it runs none. A live agent's are handed on to
        simulated tools.

        Args:
            messages: exactly what the framework would send.
            tools: what it would offer; must hold all tools of the session.

        Raises:
            EpisodeError: a tool is missing, or the pins do not stand there once.
        """
        try:
            return await self._answer(messages, tools)
        except Exception as error:
            self._failed(error)

    async def _answer(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolInfo]
    ) -> ChatMessageAssistant:
        missing = {tool.name for tool in self.tools} - {tool.name for tool in tools}
        if missing:
            raise EpisodeError(f"the framework did not offer {', '.join(sorted(missing))}")
        self._check_pinned(messages)
        if not self._final and not self.live:
            if not self._replies:
                raise EpisodeError("the framework asked for more replies than the script has")
            return self._replies.pop(0)
        self._steps += 1
        if self._final and self._asked and (not self.live or self._steps > MAX_STEPS):
            return ChatMessageAssistant(content=DONE)
        if self._steps > MAX_STEPS:
            return ChatMessageAssistant(content=DONE)
        return await self._ask(messages, tools)

    async def _ask(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolInfo]
    ) -> ChatMessageAssistant:
        left = sent = self.tagged(messages)
        if self.pins is None:
            # A drop-in hook has done it within the framework; a second time would hide its faults.
            sent = await self.defense.assemble(left)
        on_offer = self._as_offered(tools)
        self._clock.lap("seconds_staging")
        output = await self._agent.generate(
            sent,
            tools=on_offer,
            tool_choice="auto",
            config=config_for(self._agent, self.plan.scaffold),
        )
        self._clock.lap("seconds_agent")
        if self._final:
            self._asked.append(_Asked(left, sent, output))
        elif self.live and self._is_own(left):
            self._seen += [*self._unmarked(left), output.message]
        return output.message if self.live else ChatMessageAssistant(content=DONE)

    def _as_offered(self, tools: Sequence[ToolInfo]) -> list[ToolInfo]:
        """The tools as the model sees them: the episode's own words, and the framework's tools.

        Where the history is scripted, its tools are the script's, not the model's.
        """
        ours = {tool.name: tool for tool in self.tools}
        theirs = [tool for tool in tools if tool.name not in ours]
        return [*(self.tools if self.live else self.offered), *theirs]

    async def summarize(
        self, messages: Sequence[ChatMessage], config: GenerateConfig | None = None
    ) -> str:
        """A summary, by the role ``summarizer``.

        Args:
            messages: exactly what the framework would send.
            config: what it asks for beside that, as a limit of tokens.

        Raises:
            EpisodeError: the model wrote nothing, or was to be shown the pins.
        """
        try:
            self._clock.lap("seconds_staging")
            self._check_unpinned(messages)
            self.shown.append(list(messages))
            output = await self._summarizer.generate(list(messages), config=config or _PLAIN)
            self._clock.lap("seconds_compaction")
            if not output.completion.strip():
                raise EpisodeError("the summarizer wrote nothing")
            self.summaries.append(output.completion.strip())
            return self.summaries[-1]
        except Exception as error:
            self._failed(error)

    def _failed(self, error: Exception) -> NoReturn:
        self._fault = self._fault or error
        raise error

    def tool(self, name: str, arguments: Mapping[str, Any]) -> str:
        """What a simulated tool returns: the script's result; nothing is ever run.

        Args:
            name: the tool's.
            arguments: as the agent wrote them; a live agent's may be others than the
                script's, and it is given the script's result all the same.
        """
        for at, result in enumerate(self._results):
            if result.function == name:
                return self._results.pop(at).text
        # After the trigger there is no script: what is on offer is said to be done, and never run.
        return DONE if any(name == tool.name for tool in self.offered) else "Nothing found."

    def tagged(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """The messages with the origins and marks of those that the episode staged.

        A framework drops them; the survival check and the report want them back.
        """
        staged: dict[tuple[str, str], ChatMessage] = {}
        for known in self.history:
            staged.setdefault((known.role, _plain(known.text)), known)
        found: list[ChatMessage] = []
        for message in messages:
            own = staged.get((message.role, _plain(message.text)))
            if own is not None and message.text.strip():
                update: dict[str, Any] = {"metadata": own.metadata, "source": own.source}
            elif any(_plain(summary) in _plain(message.text) for summary in self.summaries):
                update = {"metadata": {ORIGIN: "summary", SUMMARY: True}}
            else:
                update = {"metadata": {ORIGIN: "framework"}}
            found.append(message.model_copy(update=update))
        return found

    async def _played(self) -> Played:
        # A subagent's input holds neither the conversation nor the trigger.
        own = [asked for asked in self._asked if self._is_own(asked.left)] or self._asked
        first, last = own[0], own[-1]
        sent, offer = last.sent, self._as_offered([])
        # All that a live agent did after the trigger is graded, not its last step alone.
        read = [read_output(asked.output, offer, self.plan.scaffold) for asked in self._asked]
        calls = tuple(call for found in read for call in found[0])
        check_trigger(self.episode, sent)
        compacted = self._compacted(first)
        calls, blocked = await approved(self.defense, calls)
        self._clock.lap("seconds_defense")
        return Played(
            calls=calls,
            last_input=tuple(sent),
            output=last.output,
            compacted=compacted,
            recalled=next((found[1] for found in read if found[1] is not None), None),
            fault=read[-1][2],
            blocked=blocked,
            facts={**self._clock.seconds, **costs(sent), **self._facts(sent)},
        )

    def dropped(self, sent: Sequence[ChatMessage]) -> int:
        """How many messages of the conversation do not stand whole in an input.

        Of a live conversation, those that the model was sent before or wrote.
        """
        return _lost(self._seen if self.live else self.history[1:], sent)

    def _unmarked(self, sent: Sequence[ChatMessage]) -> list[ChatMessage]:
        """What stands in an input and no summarizer or framework wrote."""
        return [m for m in sent if m.role != "system" and SUMMARY not in (m.metadata or {})]

    def _compacted(self, asked: _Asked) -> Compacted | None:
        dropped = self.dropped(asked.left)
        if not self.compacts:
            if dropped or _lost(self.history[:1], asked.left):
                raise EpisodeError(
                    "the framework dropped history where nothing was to be compacted"
                )
            return None
        if not dropped:
            raise EpisodeError(
                f"{self.distribution} compacted nothing before the trigger; give a larger"
                " context_tokens"
            )
        context = [m for m in asked.sent if not self._is_trigger(m)]
        transcript().info(diff(self.episode, context), source="compaction diff")
        held = survival(
            message_texts(context), self.episode.policy, self.episode.variant.slots
        ).kept
        return Compacted(context=context, rounds=self._rounds(context), degenerate=not held)

    def _rounds(self, context: Sequence[ChatMessage]) -> list[Round]:
        before, after = message_texts(self.history), message_texts(context)
        # A framework that only evicts has no summarizer, and saw everything itself; one
        # that has a summarizer and did not ask it showed nobody anything.
        shown = [message_texts(messages) for messages in self.shown]
        shown = shown or [[] if self.summarizes else before]
        summaries: list[str | None] = [*self.summaries] or [None]
        return [
            Round(
                number=number,
                tokens_before=sum(map(count, texts if self.shown else before)),
                tokens_after=sum(map(count, after)),
                messages_before=len(texts if self.shown else before),
                messages_after=len(context),
                shown_verbatim=survival(texts, self.episode.policy, {}).verbatim,
                summary=summary,
            )
            for number, (texts, summary) in enumerate(zip(shown, summaries, strict=True), start=1)
        ]

    def _is_trigger(self, message: ChatMessage) -> bool:
        return isinstance(message, ChatMessageUser) and self.trigger in message.text

    def _facts(self, sent: Sequence[ChatMessage]) -> dict[str, Any]:
        voices = [m.role for m in sent if SUMMARY in (m.metadata or {})]
        facts: dict[str, Any] = {
            "framework": f"{self.distribution} {version(self.distribution)}",
            "summarizer_calls": len(self.summaries),
            "summary_voice": voices[-1] if voices else None,
            "roles": [m.role for m in sent],
            "roles_problem": problem(sent),
            "dropped": self.dropped(self._asked[0].left),
        }
        if self.summaries:
            facts["summarizer"] = str(self._summarizer)
        return facts

    def _is_own(self, messages: Sequence[ChatMessage]) -> bool:
        """Whether it is the agent who is asked, and no subagent with other instructions."""
        system = _plain(self.system)
        return any(m.role == "system" and system in _plain(m.text) for m in messages)

    def _check_pinned(self, sent: Sequence[ChatMessage]) -> None:
        block = self.pins.text.rstrip("\n") if self.pins is not None else ""
        said = [m.text for m in sent if m.role in ("system", "user")]
        if block and sum(text.count(block) for text in said) != 1:
            raise EpisodeError("the pinned policies do not stand in a model input once")

    def _check_unpinned(self, shown: Sequence[ChatMessage]) -> None:
        block = self.pins.text.rstrip("\n") if self.pins is not None else ""
        if block and any(block in text for text in message_texts(shown)):
            raise EpisodeError("the summarizer was shown the pinned policies")


_PLAIN = GenerateConfig()


def _framework_pins(defense: Defense) -> Board | None:
    """What a framework's own hook pins, where the defense supplies that.

    Raises:
        EpisodeError: it supplies something that no hook of ours knows.
    """
    pins = defense.framework_pins()
    if pins is not None and not isinstance(pins, Board):
        raise EpisodeError(
            f"{type(defense).__name__}.framework_pins gave a {type(pins).__name__}, not a Board"
        )
    return pins


def _lost(known: Sequence[ChatMessage], sent: Sequence[ChatMessage]) -> int:
    """How many messages do not stand whole, in their own voice, in an input.

    A framework that folds a tool's result into what the agent said has changed it.
    """
    whole: dict[str, str] = {}
    for role, text in _said(sent):
        whole[role] = f"{whole.get(role, '')}\n{text}"
    return sum(
        1 for role, text in dict.fromkeys(_said(known)) if text and text not in whole.get(role, "")
    )


def _said(messages: Sequence[ChatMessage]) -> list[tuple[str, str]]:
    texts = map(_plain, message_texts(messages))
    return [(message.role, text) for message, text in zip(messages, texts, strict=True)]


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).strip()
