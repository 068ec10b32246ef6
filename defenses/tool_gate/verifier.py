"""A policy check of one proposed tool call by a small model that sees nothing else.

The model reads the constraints and the call, never the conversation, so nothing
that the agent ingested can argue with it, unless the agent copied it into the
call. No Inspect here: any function from a prompt to a text will do.

>>> verifier = Verifier(ask_my_model)  # doctest: +SKIP
>>> decision = await verifier.check([policy], "send_email", arguments)  # doctest: +SKIP
>>> if decision.blocked is not False: ...  # doctest: +SKIP
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from constraintrot.defenses import rules_of
from constraintrot.errors import ParameterError
from constraintrot.extras import installed
from constraintrot.rule_text.call_check import AGAIN, prompt, read
from constraintrot.tokens import estimate, exact

Generate: TypeAlias = Callable[[str], Awaitable[str]]

# Of the catalogue's models the smallest window is 8,192, and their vocabularies differ
# from the one that counts here.
WINDOW = 6_000
LEAST_WINDOW = 500
# Characters; ordinary text has four or five a token.
_LONGEST_TOKEN = 8


@dataclass(frozen=True)
class Decision:
    """The outcome of a check.

    Attributes:
        blocked: True if the call breaks a rule, False if not, None if the
            model's answers could not be read. A caller that fails closed lets a
            call through only on False.
        reason: one sentence, for a reader. It may quote the model.
    """

    blocked: bool | None
    reason: str


class Verifier:
    """Asks a model whether a call breaks a constraint.

    Args:
        generate: the model: from a prompt to its answer. What it raises is
            passed on, so a call is never let through by an error.
        window: tokens that a prompt may have. The model reads as many and has room
            for its answer; a longer prompt, whose rules it might never see, is not
            asked, and the call is undecided.

    Raises:
        ParameterError: the window is no room for a prompt.
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
            constraints: the standing rules, word for word, a bare string being one;
                with none, nothing is asked.
            function: the tool's name.
            arguments: its arguments, any JSON value; other values by ``str``. What cannot be
                written as JSON is undecided.
        """
        rules = rules_of(constraints)
        if not rules:
            return Decision(False, "there is no constraint to break")
        try:
            asked = prompt(rules, function, arguments)
        except (RecursionError, TypeError, ValueError) as error:
            # An agent can nest arguments too deep to be written; that blocks its call, not the run.
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
    """Return whether a prompt is too long for a window; a far too long one is not counted."""
    if len(text) > _LONGEST_TOKEN * window:
        return True
    if installed("bpe_openai"):
        return exact(text) > window
    # An estimate takes a letter of a rare script for one token; it may be one a byte.
    return estimate(text) + len(text.encode()) - len(text) > window
