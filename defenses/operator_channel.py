"""``operator_channel``: constraints change by signed directives only, and every call is checked.

Before each call of the agent's model, the waiting directives are applied, the context
shows the registry as it is then, and claims of authority in tool results and summaries
are marked in place as unverified. A verifier that never sees the conversation checks each
proposed call against the constraints of that moment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from constraintrot.defenses import MEASURING, Defense, Deployment, defense
from constraintrot.defenses.tool_gate import Decision, Verifier, ask

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, CompactionStrategy

    from constraintrot.defenses.operator import Channel, Exemption, Receipt, State
    from constraintrot.defenses.operator.rendering import OperatorBlock

# How often a call is checked anew because the constraints changed meanwhile.
_TRIES = 3


class OperatorChannel(Defense):
    """The operator's constraints around an agent.

    Args:
        channel: the source of the constraints.
        verifier: the checker of calls; by default the model of role ``verifier``,
            or the agent's own if that role has none.
        receipts: a list to which the receipt of each text is added.

    Attributes:
        counts: calls by outcome: ``approved``, ``exempted``,
            ``blocked``, or ``undecided``, which is blocked too.
    """

    def __init__(
        self,
        channel: Channel,
        verifier: Verifier | None = None,
        receipts: list[Receipt] | None = None,
    ) -> None:
        self.channel = channel
        self.verifier = verifier or Verifier(ask)
        self.receipts = [] if receipts is None else receipts
        self.counts: Counter[str] = Counter()
        self._pins: OperatorBlock | None = None

    @property
    def pins(self) -> OperatorBlock:
        from constraintrot.defenses.operator.rendering import OperatorBlock

        if self._pins is None:
            self._pins = OperatorBlock(self.channel)
        return self._pins

    # The compactor is shown the messages without the block.
    touches_summarizer = False

    def wrap(self, strategy: CompactionStrategy) -> CompactionStrategy:
        from constraintrot.defenses.operator.rendering import OperatorCompaction

        return OperatorCompaction(strategy, self.pins, lambda: self.poll("wrap"))

    async def assemble(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        self.poll("assemble")
        return await self.pins.check(messages)

    async def approve(self, function: str, arguments: Mapping[str, Any]) -> str | None:
        for _ in range(_TRIES):
            self.poll("approve")
            state = self.channel.state
            decision, exempt = await self._decide(state, function, arguments)
            self.poll("approve")
            # The constraints may have changed during the check.
            if self.channel.constraints != state.constraints:
                continue
            if exempt and not self.channel.use(exempt, state.constraints):
                continue
            return self._settled(function, decision, state, exempt)
        self.counts["undecided"] += 1
        return "undecided: the operator's constraints changed while the call was checked"

    def poll(self, hook: str) -> None:
        """Apply the directives that have come in through the channel."""
        from inspect_ai.log import transcript

        if MEASURING.get():
            return
        for receipt in self.channel.poll(hook):
            self.receipts.append(receipt)
            transcript().info(receipt.model_dump(mode="json"), source="operator channel")

    async def _decide(
        self, state: State, function: str, arguments: Mapping[str, Any]
    ) -> tuple[Decision, tuple[Exemption, ...]]:
        """Return the decision on a call, and the exemptions that it needs."""
        call = function, dict(arguments)
        rules = {held.name: held.content for held in state.constraints}
        decision = await self.verifier.check(list(rules.values()), *call)
        exempting = self.channel.exempting(function, arguments)
        if decision.blocked is False or not exempting:
            return decision, ()
        # The oldest of several exemptions for the same constraint is enough.
        needed = {one.constraint: one for one in reversed(exempting)}
        left = [content for name, content in rules.items() if name not in needed]
        decision = await self.verifier.check(left, *call)
        if decision.blocked is not False:
            return decision, ()
        used = [
            one
            for name, one in needed.items()
            if len(needed) == 1
            or (await self.verifier.check([rules[name]], *call)).blocked is not False
        ]
        # A call can break two rules together and neither alone; then all were needed.
        return decision, tuple(used or needed.values())

    def _settled(
        self, function: str, decision: Decision, state: State, exempt: Sequence[Exemption]
    ) -> str | None:
        from inspect_ai.log import transcript

        outcome = {False: "approved", True: "blocked", None: "undecided"}[decision.blocked]
        outcome = "exempted" if exempt else outcome
        self.counts[outcome] += 1
        transcript().info(
            {
                "function": function,
                "outcome": outcome,
                "reason": decision.reason,
                "revision": state.revision,
            },
            source="operator channel",
        )
        return None if decision.blocked is False else decision.reason


@defense("operator_channel", hooks=("wrap", "assemble", "approve"), declared=True)
def operator_channel(deployment: Deployment) -> Defense:
    """Declared policies, which only a signed directive changes (section 7, last paragraph)."""
    from constraintrot.defenses.operator import connection

    to = connection()
    return OperatorChannel(to.channel(deployment.declared), receipts=to.receipts)
