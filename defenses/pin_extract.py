"""``pin_extract``: pins only what an extractor finds in the conversation itself.

No operator declares anything, so this measures pinning when the policy has to be noticed
first. ``pin`` proves re-insertion, this one protection, and reports never merge the two.

It pins for good, in the operator's place. So it asks where an order came from: a message
of the user's may hold a document that somebody else wrote, and no extractor can tell an
order in that document from the user's own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import TYPE_CHECKING, TypeAlias

from constraintrot.defenses import Defense, Deployment, defense
from constraintrot.defenses.pin import Pinning
from constraintrot.defenses.pinning.block_marks import marks_of
from constraintrot.defenses.rampart import Principal, Registry

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, CompactionStrategy

    from constraintrot.rule_text.extraction import Extractor, Role

Confirm: TypeAlias = Callable[[str], Awaitable[bool]]
"""Asks somebody who may set a policy whether a text is one."""

# The role of messages in which a person with authority wrote every word.
_OPERATOR: tuple[Role, ...] = ("system",)
# Not drawn in a benchmark: the same episode is to give the same input in each run.
_NONCE = "extracted pins"


class ExtractedPins(Pinning):
    """Pins what an extractor finds in messages that it has not seen before.

    Args:
        extractor: finds the parts of messages that hold a standing constraint.
        origins: the roles in whose messages a person with authority writes every word.
            Name ``user`` only if users paste and attach nothing.
        confirm: asked about findings in other roles; without it these are not pinned.
        label: the registry's name; registries that share a nonce need different ones.
        nonce: the mark of its blocks (``PinnedBlock``); drawn unless given.
    """

    def __init__(
        self,
        extractor: Extractor,
        *,
        origins: Collection[Role] = _OPERATOR,
        confirm: Confirm | None = None,
        label: str = "extracted pins",
        nonce: str | None = None,
    ) -> None:
        self.harness = Principal("harness")
        registry = Registry(self.harness, label=label)
        if nonce is not None:
            marks_of(registry).choose(nonce)
        super().__init__(registry)
        self.extractor = extractor
        self.origins = frozenset(origins)
        self.confirm = confirm
        self._seen: set[str | None] = set()

    def wrap(self, strategy: CompactionStrategy) -> CompactionStrategy:
        from constraintrot.defenses._strategies import Noticing

        # Noticing stands outside, so that a policy is pinned in the compaction that finds it.
        return Noticing(super().wrap(strategy), self.notice, self.known)

    async def assemble(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        # The present request stands in the context anyway, and is read once it is history.
        users = [at for at, message in enumerate(messages) if message.role == "user"]
        await self.notice(messages[: users[-1]] if users else messages)
        return await super().assemble(messages)

    async def notice(self, messages: Sequence[ChatMessage]) -> None:
        """Search the new messages, and pin the policies found."""
        from constraintrot.rule_text.extraction import Said

        new = [
            message
            for message in messages
            if message.id not in self._seen and not _made_up(message)
        ]
        self.known(messages)
        said = [Said(message.role, message.text) for message in new]
        held = {pin.content for pin in self.registry.pins()}
        for found in await self.extractor(said):
            if found.text not in held and await self._may_be_pinned(new[found.at].role, found.text):
                self.registry.pin(found.text, by=self.harness)
                held.add(found.text)

    async def _may_be_pinned(self, role: Role, text: str) -> bool:
        if role in self.origins:
            return True
        return self.confirm is not None and await self.confirm(text)

    def known(self, messages: Sequence[ChatMessage]) -> None:
        """Mark messages as seen: a summary is a model's text, whatever its role."""
        self._seen.update(message.id for message in messages)


def _made_up(message: ChatMessage) -> bool:
    """Return whether a harness, and not the message's author, chose the message's words.

    These are pinned blocks, summaries, and messages that Inspect merged from them and
    their neighbours. The originals were read when they came.
    """
    from constraintrot.compaction.strategy_wrapper import merged, summarised
    from constraintrot.defenses.pinning.pins import is_pinned

    return merged(message) or summarised(message) or is_pinned(message)


@defense("pin_extract", hooks=("wrap", "assemble"))
def pin_extract(deployment: Deployment) -> Defense:
    """Pin the policies that a rule-based extractor finds in user and system messages.

    The user is a channel of origin here, because nobody attaches anything in a benchmark's
    conversation except the attack that is measured.
    """
    from constraintrot.rule_text.extraction import TRUSTED, rules

    return ExtractedPins(rules(), origins=TRUSTED, nonce=_NONCE)


@defense("pin_extract_model", hooks=("wrap", "assemble"))
def pin_extract_model(deployment: Deployment) -> Defense:
    """Pin the policies that a model of role ``extractor`` finds there (by default the agent's)."""
    from inspect_ai.model import get_model

    from constraintrot.rule_text.extraction import TRUSTED, by_reader
    from constraintrot.rule_text.judge_reader import JudgeReader

    def reader() -> JudgeReader:
        return JudgeReader(get_model(role="extractor", default=get_model(role="agent")))

    return ExtractedPins(
        by_reader(reader), origins=TRUSTED, label="pins extracted by a model", nonce=_NONCE
    )
