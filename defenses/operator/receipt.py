"""The receipt for a text that came in through the channel."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from constraintrot.defenses.operator.directive import Directive, broad
from constraintrot.defenses.operator.errors import OperatorError


class Receipt(BaseModel):
    """The outcome of a text that came in.

    Attributes:
        accepted: whether it was applied.
        error: the error's name, where it was refused.
        reason: that error's message.
        kind: of the directive, where it was applied; so are the others.
        constraint: that it is about.
        sequence: its number.
        revision: of the state afterwards.
        warnings: what the directive lets through that is more than one decision.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    accepted: bool
    error: str | None = None
    reason: str | None = None
    kind: str | None = None
    constraint: str | None = None
    sequence: int | None = None
    revision: int
    warnings: tuple[str, ...] = ()

    @classmethod
    def applied(cls, directive: Directive, revision: int) -> Receipt:
        """Of a directive that was applied."""
        return cls(
            accepted=True,
            kind=directive.kind,
            constraint=directive.constraint,
            sequence=directive.sequence,
            revision=revision,
            warnings=broad(directive),
        )

    @classmethod
    def refused(cls, error: OperatorError, revision: int) -> Receipt:
        """Of a text that was not."""
        return cls(accepted=False, error=type(error).__name__, reason=str(error), revision=revision)
