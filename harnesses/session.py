"""A conversation that an agent framework drives, with the answers to its models' calls.

A framework's adapter passes every call of its agent's model to ``answer``, every call
of its summarizer to ``summarize``, and every tool call to ``tool``; ``run`` plays the
history and the trigger, and returns the outcome. Nothing is patched: the framework's own
loop and context manager decide what is sent. Errors that a framework swallows are kept
here, so that a failed summarizer is an error of the sample and does not count as survival.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, NoReturn, TypeAlias

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
from constraintrot.compactors.turns import SUMMARY, asked
from constraintrot.episode.episode import Episode
from constraintrot.episode.messages import conversation_messages, message_texts, trigger_messages
from constraintrot.errors import EpisodeError
from constraintrot.evaluation.defense import assembled
from constraintrot.evaluation.harness import MAX_STEPS
from constraintrot.evaluation.play_settings import PlaySettings
from constraintrot.harnesses import Harness, HarnessFactory, Played, scripted_history
from constraintrot.harnesses.agent_call import (
    Approvals,
    Reading,
    as_called,
    check_trigger,
    config_for,
    look_up,
    offered,
    only_looks_up,
    read_output,
)
from constraintrot.harnesses.cost import Clock, costs
from constraintrot.harnesses.input_checks import (
    check_pinned,
    check_unpinned,
    framework_pins,
    roles_problem,
)
from constraintrot.harnesses.message_match import Spoken, missing, plain, spoken, tagged
from constraintrot.harnesses.review import Reviewer
from constraintrot.rule_text.survival import mentions
from constraintrot.tokens import count

DONE = "Done."
_PLAIN = GenerateConfig()
# Makes the framework answer a user's request.
Say: TypeAlias = Callable[[str], Awaitable[object]]


@dataclass(frozen=True)
class Asked:
    """A call of the agent's model after the trigger.

    Attributes:
        left: the input that the framework would send.
        sent: that input after a defense that is not a hook of the framework.
    """

    left: list[ChatMessage]
    sent: list[ChatMessage]
    output: ModelOutput
    read: Reading


class Session:
    """One episode in a framework: its history, calls, tools' results and outcome.

    Args:
        live: whether the agent's model plays the history too, over simulated tools.
        distribution: the framework's distribution, whose version is recorded.

    Attributes:
        tools: all tools that the framework registers: the offered ones, and those that the
            history's calls need.
        pins: the block that a drop-in hook pins; None without the defense.
        summarizes: whether the framework has a summarizer, which it may not call.
    """

    def __init__(
        self, episode: Episode, settings: PlaySettings, *, live: bool, distribution: str
    ) -> None:
        self.episode, self.settings, self.live = episode, settings, live
        self.distribution = distribution
        self.system = scripted_history.system(episode)
        self.history = conversation_messages(episode)
        self.script = scripted_history.exchanges(self.history)
        self.offered = offered(episode, settings.scaffold)
        self.tools = scripted_history.tools(self.script, self.offered, episode.variant.lookups)
        self.trigger = trigger_messages(episode)[-1].text
        self.defense = settings.defense.make(episode.declared)
        self.pins = framework_pins(self.defense)
        self.summarizes = False
        self.shown: list[list[ChatMessage]] = []
        self.summaries: list[str] = []
        self._clock = Clock()
        self._agent = get_model(role="agent")
        self._summarizer = get_model(role="summarizer", default=self._agent)
        self._reviewer = Reviewer(episode, settings.scaffold, self._agent)
        self._replies: list[ChatMessageAssistant] = []
        self._results: list[ChatMessageTool] = []
        self._final = False
        self._steps = 0
        self._asked: list[Asked] = []
        # Messages that the agent's model was sent whole; only these can be compacted.
        self._seen: dict[Spoken, None] = {}
        self._unseen: list[Spoken] = []
        self._fault: Exception | None = None

    @property
    def compacts(self) -> bool:
        """Whether the framework has to compact; otherwise its context has to stay whole."""
        return self.settings.condition.compacts

    @property
    def framework(self) -> str:
        return f"{self.distribution} {version(self.distribution)}"

    def size(self, count_text: Callable[[str], int] = count) -> int:
        """Return the history's size by a counter of texts, without the system message."""
        return sum(count_text(text) for text in message_texts(self.history[1:]))

    async def run(self, say: Say) -> Played:
        """Play the history, then the trigger.

        Args:
            say: makes the framework answer a user's request.

        Raises:
            EpisodeError: a due compaction did not happen; the trigger did not reach the
                model whole; the model was never asked; or a call of the summarizer
                failed, even if the framework continued.
        """
        self._unseen = [] if self.live else spoken(self.history[1:])
        for exchange in self.script:
            self._replies, self._results = list(exchange.replies), list(exchange.results)
            self._steps = 0
            await self._said(say, exchange.user.text)
        self._final, self._steps, self._results = True, 0, []
        await self._said(say, self.trigger)
        if not self._asked:
            raise EpisodeError("the framework never asked the agent's model about the trigger")
        return await self._played()

    async def _said(self, say: Say, text: str) -> None:
        try:
            await say(text)
        except Exception:
            # A framework may wrap the error beyond recognition.
            if self._fault is not None:
                raise self._fault from None
            raise
        if self._fault is not None:
            raise self._fault
        for kind, left in self._unplayed().items():
            if left and not self._final and not self.live:
                raise EpisodeError(f"the framework left {len(left)} scripted {kind} unasked")

    def _unplayed(self) -> dict[str, Sequence[ChatMessage]]:
        """Return the parts of the current exchange that the framework has not asked for."""
        return {"replies": self._replies, "results": self._results}

    async def answer(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolInfo]
    ) -> ChatMessageAssistant:
        """Return the agent's next message: the script's, and after the trigger its model's.

        Calls in the answer to the trigger are kept for grading; the framework gets "Done."
        instead, so it runs none. A live agent's calls are passed to simulated tools.

        Args:
            messages: exactly the messages that the framework would send.
            tools: the tools that it would offer; must include all tools of the session.

        Raises:
            EpisodeError: a tool is missing, or the pins are not there exactly once.
        """
        try:
            return await self._answer(messages, tools)
        except Exception as error:
            self._failed(error)

    async def _answer(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolInfo]
    ) -> ChatMessageAssistant:
        absent = {tool.name for tool in self.tools} - {tool.name for tool in tools}
        if absent:
            raise EpisodeError(f"the framework did not offer {', '.join(sorted(absent))}")
        self.check_pinned(messages)
        if not self._final and not self.live:
            unseen = missing(self._unseen, messages)
            self._seen |= dict.fromkeys(text for text in self._unseen if text not in unseen)
            self._unseen = unseen
            if not self._replies:
                raise EpisodeError("the framework asked for more replies than the script has")
            return self._replies.pop(0)
        self._steps += 1
        if self._final and self._asked and not self._goes_on():
            return ChatMessageAssistant(content=DONE)
        if self._steps > MAX_STEPS:
            return ChatMessageAssistant(content=DONE)
        return await self._ask(messages, tools)

    def check_pinned(self, messages: Sequence[ChatMessage]) -> None:
        """Check that the pins of a drop-in hook are in the agent's input."""
        check_pinned(self.pins, messages)

    def check_unpinned(self, messages: Sequence[ChatMessage]) -> None:
        """Check that the summarizer is not shown the pins."""
        check_unpinned(self.pins, messages)

    def _goes_on(self) -> bool:
        """Return whether the agent is asked again after the trigger: live, or after a look-up."""
        if self.live:
            return self._steps <= MAX_STEPS
        looked = only_looks_up(self.episode, self._asked[-1].read)
        return looked and len(self._asked) < self.settings.steps

    async def _ask(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolInfo]
    ) -> ChatMessageAssistant:
        left = sent = self.tagged(messages)
        if self.pins is None:
            # With a drop-in hook, applying the defense again would hide the hook's faults.
            sent = await assembled(self.defense, left)
        on_offer = self._as_offered(tools)
        self._clock.lap("seconds_staging")
        refused = await self._reviewer.refusal(sent, on_offer) if self._final else None
        output = refused or await self._agent.generate(
            sent,
            tools=on_offer,
            tool_choice="auto",
            config=config_for(self._agent, self.settings.scaffold, on_offer),
        )
        self._clock.lap("seconds_agent")
        if self._final:
            read = read_output(output, on_offer, self.settings.scaffold)
            self._asked.append(Asked(left, sent, output, read))
            if self._goes_on():
                return as_called(output, read)
        elif self.live and self._is_agents(left):
            self._seen |= dict.fromkeys(spoken([*self._unmarked(left), output.message]))
        return output.message if self.live else ChatMessageAssistant(content=DONE)

    def _as_offered(self, tools: Sequence[ToolInfo]) -> list[ToolInfo]:
        """Return the tools that the model sees: the episode's own, and the framework's.

        Tools that only the history calls are hidden, except from a live agent.
        """
        ours = {tool.name: tool for tool in self.tools}
        theirs = [tool for tool in tools if tool.name not in ours]
        known = {tool.name for tool in self.offered}
        scripts = [tool for tool in self.tools if tool.name not in known]
        return [*self.offered, *(scripts if self.live else []), *theirs]

    async def summarize(
        self, messages: Sequence[ChatMessage], config: GenerateConfig | None = None
    ) -> str:
        """Return a summary by the role ``summarizer``.

        Args:
            messages: exactly the messages that the framework would send.
            config: the framework's settings, such as a limit of tokens.

        Raises:
            NoSummaryError: the model wrote nothing even when asked again.
            EpisodeError: the messages hold the pins.
        """
        try:
            self._clock.lap("seconds_staging")
            self.check_unpinned(messages)
            self.shown.append(list(messages))
            text, _ = await asked(
                lambda: self._summarizer.generate(list(messages), config=config or _PLAIN),
                lambda output: output.completion,
            )
            self._clock.lap("seconds_compaction")
            self.summaries.append(text)
            return text
        except Exception as error:
            self._failed(error)

    def _failed(self, error: Exception) -> NoReturn:
        self._fault = self._fault or error
        raise error

    def tool(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Return a simulated tool's result from the script; nothing is ever run.

        A live agent gets the script's result even for other arguments.
        """
        for at, result in enumerate(self._results):
            if result.function == name:
                return self._results.pop(at).text
        if name in self.episode.variant.lookups:
            return look_up(self.episode, name, arguments)
        # After the trigger there is no script: an offered tool returns "Done." without running.
        return DONE if any(name == tool.name for tool in self.offered) else "Nothing found."

    def tagged(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """Return the messages with the metadata of the staged messages that they match."""
        return tagged(messages, self.history, self.summaries)

    async def _played(self) -> Played:
        # Without subagents, whose input holds neither the conversation nor the trigger.
        agents = [asked for asked in self._asked if self._is_agents(asked.left)] or self._asked
        first, last = agents[0], agents[-1]
        sent = last.sent
        # All steps after the trigger are graded, not only the last.
        read = [asked.read for asked in self._asked]
        check_trigger(self.episode, sent)
        compacted = self._compacted(first)
        approvals = Approvals(self.defense, self.episode.variant.lookups)
        await approvals.ask([call for one in read for call in one.calls])
        calls, blocked = approvals.graded()
        self._clock.lap("seconds_defense")
        return Played(
            calls=calls,
            last_input=tuple(sent),
            output=last.output,
            compacted=compacted,
            recalled=self._reviewer.recalled(one.recalled for one in read),
            fault=read[-1].fault,
            prose=read[-1].prose,
            blocked=blocked,
            facts={**self._clock.seconds, **costs(sent), **self._facts(sent)},
        )

    def dropped(self, sent: Sequence[ChatMessage]) -> int:
        """Return the number of the conversation's messages that are not whole in an input.

        For a live conversation, those that the model was sent before or wrote.
        """
        return len(missing(self._seen if self.live else spoken(self.history[1:]), sent))

    def _unmarked(self, sent: Sequence[ChatMessage]) -> list[ChatMessage]:
        """Return the messages of an input that are neither system messages nor summaries."""
        return [m for m in sent if m.role != "system" and SUMMARY not in (m.metadata or {})]

    def _compacted(self, asked: Asked) -> Compacted | None:
        if not self.compacts:
            if self.dropped(asked.left) or missing(spoken(self.history[:1]), asked.left):
                raise EpisodeError(
                    "the framework dropped history where nothing was to be compacted"
                )
            return None
        # Only messages that were sent count: others were not played, so not compacted.
        if not missing(self._seen, asked.left):
            raise EpisodeError(
                f"{self.distribution} compacted nothing before the trigger; give a larger"
                " context_tokens"
            )
        context = [m for m in asked.sent if not self._is_trigger(m)]
        transcript().info(diff(self.episode, context), source="compaction diff")
        held = mentions(
            message_texts(context), self.episode.policy, self.episode.variant.slots
        ).kept
        return Compacted(
            context=context,
            rounds=self._rounds(context),
            degenerate=None if held else "no_policy",
        )

    def _rounds(self, context: Sequence[ChatMessage]) -> list[Round]:
        before, after = message_texts(self.history), message_texts(context)
        # A framework that only evicts sees everything itself; one that did not use its
        # summarizer showed it nothing.
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
                shown_verbatim=mentions(texts, self.episode.policy, {}).verbatim,
                summary=summary,
            )
            for number, (texts, summary) in enumerate(zip(shown, summaries, strict=True), start=1)
        ]

    def _is_trigger(self, message: ChatMessage) -> bool:
        return isinstance(message, ChatMessageUser) and self.trigger in message.text

    def _facts(self, sent: Sequence[ChatMessage]) -> dict[str, Any]:
        summary_roles = [m.role for m in sent if SUMMARY in (m.metadata or {})]
        facts: dict[str, Any] = {
            "framework": self.framework,
            "summarizer_calls": len(self.summaries),
            "summary_voice": summary_roles[-1] if summary_roles else None,
            "roles": [m.role for m in sent],
            "roles_problem": roles_problem(sent),
            "dropped": self.dropped(self._asked[0].left),
            **self._reviewer.facts,
        }
        if self.summaries:
            facts["summarizer"] = str(self._summarizer)
        return facts

    def _is_agents(self, messages: Sequence[ChatMessage]) -> bool:
        """Return whether messages are the agent's input, not that of a subagent."""
        system = plain(self.system)
        return any(m.role == "system" and system in plain(m.text) for m in messages)


def playing(distribution: str, conversation: Callable[[Session, str], Say]) -> HarnessFactory:
    """Return the factory of a framework's harness.

    Args:
        distribution: the framework's distribution, whose version is recorded.
        conversation: returns, for a session and a mode, the function that makes an agent of
            the framework answer a user's request.
    """

    def make(mode: str, live: bool) -> Harness:
        async def play(episode: Episode, settings: PlaySettings) -> Played:
            session = Session(episode, settings, live=live, distribution=distribution)
            return await session.run(conversation(session, mode))

        return play

    return make
