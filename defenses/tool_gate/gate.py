"""A check of every proposed call against the declared policies, before it is executed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from constraintrot.defenses import Defense, Deployment, Stacked, defense, rules_of
from constraintrot.defenses.tool_gate.verifier import Verifier
from constraintrot.rule_text.call_check import schema

if TYPE_CHECKING:
    from inspect_ai.model import GenerateConfig, Model

# An answer is one short object, but in-process models may not stop by themselves.
MAX_TOKENS = 200


class ToolGate(Defense):
    """Allows a call only if the verifier says that it breaks no rule.

    Args:
        constraints: the standing policies, word for word; a bare string is one policy. Without
            any, every call passes and no model is asked.
        verifier: the checker of calls; by default the model of role ``verifier``, or the
            agent's own if that role has none.

    Attributes:
        counts: calls by outcome: ``approved``, ``blocked``, or ``undecided`` (blocked too).
    """

    def __init__(self, constraints: str | Sequence[str], verifier: Verifier | None = None) -> None:
        self.constraints = rules_of(constraints)
        self.verifier = verifier or Verifier(ask)
        self.counts: Counter[str] = Counter()

    async def approve(self, function: str, arguments: Mapping[str, Any]) -> str | None:
        """Return why a proposed call is blocked, or None if it may run."""
        from inspect_ai.log import transcript

        if not self.constraints:
            return None
        decision = await self.verifier.check(self.constraints, function, dict(arguments))
        outcome = {False: "approved", True: "blocked", None: "undecided"}[decision.blocked]
        self.counts[outcome] += 1
        transcript().info(
            {"function": function, "outcome": outcome, "reason": decision.reason},
            source="tool_gate",
        )
        return None if decision.blocked is False else decision.reason


async def ask(prompt: str) -> str:
    """Return the answer of the model of role ``verifier``, or of the agent's model."""
    from inspect_ai.model import ChatMessageUser, get_model

    model = get_model(role="verifier", default=get_model(role="agent"))
    output = await model.generate([ChatMessageUser(content=prompt)], config=_config(model))
    return output.completion


def _config(model: Model) -> GenerateConfig:
    from inspect_ai.model import GenerateConfig, ResponseSchema
    from inspect_ai.util import JSONSchema

    # Only the in-process provider samples to a schema, and a limit would count the reasoning of
    # a hosted model too.
    if not str(model).startswith("local/"):
        return GenerateConfig()
    wanted = ResponseSchema(name="verifier", json_schema=JSONSchema.model_validate(schema()))
    return GenerateConfig(response_schema=wanted, max_tokens=MAX_TOKENS)


@defense("tool_gate", hooks=("approve",), declared=True)
def tool_gate(deployment: Deployment) -> Defense:
    """Calls are checked against the declared policies."""
    return ToolGate(deployment.declared)


@defense("pin_gate", hooks=("wrap", "assemble", "approve"), declared=True)
def pin_gate(deployment: Deployment) -> Defense:
    """The declared policies are pinned, and calls are checked against them."""
    # Imported here, so that the gate works without the dependencies of pinning.
    from constraintrot.defenses.pin import pin

    return Stacked(pin(deployment), ToolGate(deployment.declared))
