"""A policy check of one proposed tool call by a small model that sees nothing else.

The model reads the constraints and the call, never the conversation, so a text that the
agent ingested can reach it only if the agent copied it into the call. Any function from a
prompt to a text will do; Inspect is not needed.

>>> verifier = Verifier(ask_my_model)  # doctest: +SKIP
>>> decision = await verifier.check([policy], "send_email", arguments)  # doctest: +SKIP
>>> if decision.blocked is not False: ...  # doctest: +SKIP
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from constraintrot.defenses import Defense, Deployment, Stacked, defense, rules_of
from constraintrot.errors import ParameterError
from constraintrot.extras import installed
from constraintrot.rule_text.call_check import AGAIN, prompt, read, schema
from constraintrot.tokens import estimate, exact

if TYPE_CHECKING:
    from inspect_ai.model import GenerateConfig, Model


Generate: TypeAlias = Callable[[str], Awaitable[str]]

# The catalogue's smallest window is 8,192, and its models' vocabularies differ from the one
# that counts here.
WINDOW = 6_000
LEAST_WINDOW = 500
# Characters; ordinary text has four or five a token.
_LONGEST_TOKEN = 8


@dataclass(frozen=True)
class Decision:
    """The outcome of a check.

    Attributes:
        blocked: True if the call breaks a rule, False if not, None if that is undecided. A
            caller that fails closed allows a call only on False.
        reason: one sentence for a reader; it may quote the model.
    """

    blocked: bool | None
    reason: str


class Verifier:
    """Asks a model whether a call breaks a constraint.

    Args:
        generate: the model, from a prompt to its answer. Its errors are passed on, so an error
            never allows a call.
        window: tokens that a prompt may have, with the model's window leaving room for the
            answer. A call with a longer prompt is undecided without asking.

    Raises:
        ParameterError: the window is too small for a prompt.
    """

    def __init__(self, generate: Generate, *, window: int = WINDOW) -> None:
        if window < LEAST_WINDOW:
            raise ParameterError(
                f"a verifier's window is {LEAST_WINDOW} tokens or more, not {window}"
            )
        self._generate, self._window = generate, window

    async def check(
        self, constraints: str | Sequence[str], function: str, arguments: Any
    ) -> Decision:
        """Check a proposed call; an answer that cannot be read is asked for once more.

        Args:
            constraints: the standing rules, word for word; a bare string is one rule. Without any,
                nothing is asked.
            function: the tool's name.
            arguments: its arguments, any JSON value; other values are written by ``str``. A call
                that cannot be written as JSON is undecided.
        """
        rules = rules_of(constraints)
        if not rules:
            return Decision(False, "there is no constraint to break")
        try:
            asked = prompt(rules, function, arguments)
        except (RecursionError, TypeError, ValueError) as error:
            # An agent can nest arguments too deeply; that must block its call, not end the run.
            return Decision(None, f"undecided: the call cannot be written as JSON: {error}")
        if _over(asked, self._window):
            return Decision(
                None,
                f"undecided: rules and call are more than the {self._window:,} tokens that the"
                " verifier reads; make the call with shorter arguments, or give the verifier a"
                " model and a window that hold them",
            )
        for text in (asked, f"{asked}\n{AGAIN}"):
            answer = read(await self._generate(text))
            if answer is not None:
                rule, breaks = answer
                return Decision(breaks, f"the verifier says {'yes' if breaks else 'no'}: {rule}")
        return Decision(None, "undecided: the verifier's answer could not be read, twice")


def _over(text: str, window: int) -> bool:
    """Return whether a prompt is too long for a window; very long ones are not counted."""
    if len(text) > _LONGEST_TOKEN * window:
        return True
    if installed("bpe_openai"):
        return exact(text) > window
    # An estimate takes one token for a letter of a rare script, which may need one for each byte.
    return estimate(text) + len(text.encode()) - len(text) > window


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
