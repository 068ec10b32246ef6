"""A registry's pins as a message of Inspect's, put in, looked for and reported."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from inspect_ai.log import transcript
from inspect_ai.model import ChatMessage, ChatMessageUser

from constraintrot.compaction.strategy_wrapper import summarised
from constraintrot.defenses import MEASURING
from constraintrot.defenses.pinning.entailment_judge import Judge
from constraintrot.defenses.pinning.pinned_block import HEADING, PinnedBlock, Receipt, State, Where
from constraintrot.defenses.pinning.pinned_messages import PINNED, holds, leading, without_pins
from constraintrot.defenses.rampart import Registry


class Pins(PinnedBlock):
    """A registry's pinned tier in a context of Inspect's.

    Args:
        registry: whose pins.
        heading: the line above them.
        judge: says whether a context still entails a policy, both as texts.
        report: is given each receipt; by default it goes to Inspect's transcript.
    """

    def __init__(
        self,
        registry: Registry,
        *,
        heading: str = HEADING,
        judge: Judge | None = None,
        report: Callable[[Receipt], None] | None = None,
    ) -> None:
        super().__init__(registry, heading=heading, report=report or _to_transcript)
        self.judge = judge

    def message(self) -> ChatMessageUser:
        """The block as a message, with the same id for the same pins."""
        manifest = self.registry.manifest()
        return ChatMessageUser(
            content=self.text, id=f"pins-{manifest[:16]}", metadata={PINNED: manifest}
        )

    def inject(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """The messages with the block after the leading system messages.

        There nothing before it ever changes, so a prefix cache keeps it.
        """
        if not self.text:
            return list(messages)
        at = leading(messages)
        return [*messages[:at], self.message(), *messages[at:]]

    def bare(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """The messages as they would be had nothing been pinned, in any revision."""
        return without_pins(messages, self.cut)

    def find(self, messages: Sequence[ChatMessage]) -> int | None:
        """The index of the message that holds the block, where one does."""
        text = self.text
        return next((at for at, m in enumerate(messages) if text and holds(m, text)), None)

    def unsaid(self, messages: Sequence[ChatMessage]) -> tuple[str, ...]:
        """Names of the pins that no user or system message states word for word.

        What a tool returned or a model wrote is no such message, a summary in the
        user's role included: it may quote a pin and say that it is withdrawn.
        """
        said = [m.text for m in messages if m.role in ("system", "user") and not summarised(m)]
        return self.missing(said)

    async def check(
        self, messages: Sequence[ChatMessage], *, always: bool = False
    ) -> list[ChatMessage]:
        """Verify the pins right before a call, put in what is missing, take out what is stale.

        Args:
            messages: what the agent is about to be sent.
            always: put the block in even where each policy is still in the
                history by itself, as it is before a first compaction.
        """
        bare = self.bare(messages)
        missing = self.unsaid(bare) if self.find(messages) is None else ()
        # What was put in before is put in anew, so that no earlier revision stays.
        held = [m.id for m in bare] != [m.id for m in messages] or any(
            message is not kept for message, kept in zip(messages, bare, strict=True)
        )
        kept = self.inject(bare) if held or missing or always else list(messages)
        await self.step("call", self._state(messages, kept), kept, self.find(kept), missing)
        return kept

    def _state(self, before: Sequence[ChatMessage], after: Sequence[ChatMessage]) -> State:
        # Joined, since a provider may have had the block merged with its neighbours.
        if _whole(before) == _whole(after):
            return "verified"
        compacted = any(summarised(m) or PINNED in (m.metadata or {}) for m in before)
        return "repaired" if compacted else "injected"

    async def step(
        self,
        where: Where,
        state: State,
        messages: Sequence[ChatMessage],
        at: int | None,
        missing: tuple[str, ...] = (),
    ) -> None:
        """Report a step, with the judge's opinion where there is one."""
        if MEASURING.get():
            return
        pins = self.registry.pins()
        entailed = None
        if self.judge is not None and pins:
            context = "\n\n".join(message.text for message in messages)
            entailed = await self.judge("\n".join(pin.content for pin in pins), context)
        self.receipt(state, where=where, at=at, missing=missing, entailed=entailed)


def _whole(messages: Sequence[ChatMessage]) -> str:
    return "\n".join(message.text for message in messages)


def _to_transcript(receipt: Receipt) -> None:
    transcript().info(receipt.model_dump(mode="json"), source="pin receipt")
