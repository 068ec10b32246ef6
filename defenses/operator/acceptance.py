"""Checks by which a channel refuses directives that do not apply and states that are too old."""

from constraintrot.defenses.operator.directive import Directive, Scope
from constraintrot.defenses.operator.errors import (
    ClockSkewError,
    ExpiredError,
    ScopeError,
    StateError,
    UnknownKeyError,
)
from constraintrot.defenses.operator.state import State


def check_trust(directive: Directive, state: State) -> None:
    """Refuse a directive whose key was revoked."""
    if directive.key in state.revoked:
        raise UnknownKeyError(
            f"key {directive.key} was revoked here; sign the directive with another one"
        )


def check_scope(scope: Scope, here: Scope) -> None:
    """Refuse a directive that is meant for another deployment or session."""
    if scope.deployment != here.deployment:
        raise ScopeError(
            f"the directive is for deployment {scope.deployment!r}, and this is {here.deployment!r}"
        )
    if scope.session not in (None, here.session):
        raise ScopeError(
            f"the directive is for session {scope.session!r}, and this is {here.session!r}"
        )


def check_time(directive: Directive, now: float, skew: float) -> None:
    """Refuse a directive that has expired or was issued in the future.

    Raises:
        ExpiredError: it came more than the skew after its expiry.
        ClockSkewError: it was issued later than the skew allows for.
    """
    if now > directive.expires + skew:
        raise ExpiredError(
            f"the directive expired {now - directive.expires:.0f} seconds ago, by the latest time"
            " that this clock showed; sign a new one"
        )
    if directive.issued > now + skew:
        raise ClockSkewError(
            f"the directive was issued {directive.issued - now:.0f} seconds in this clock's"
            f" future; {skew:.0f} are allowed for: set the clocks"
        )


def check_revision(state: State, least: int) -> None:
    """Refuse a state of an earlier revision than the least."""
    if state.revision < least:
        raise StateError(
            f"the kept state is of revision {state.revision}, and {least} at least is expected:"
            " an older one was put in its place, or it was removed"
        )


def check_newer(kept: State | None, known: State) -> None:
    """Refuse a kept state that is neither the one that a running channel knows nor a later one.

    Each change has its own revision, so different states of one revision are not of one
    history.
    """
    if kept == known or (kept is not None and kept.revision > known.revision):
        return
    what = "is gone" if kept is None else f"is of revision {kept.revision}"
    raise StateError(
        f"the kept state {what}, and this channel has seen revision {known.revision}: somebody"
        " removed it or put an older one back; find the newest one, or start anew in another folder"
    )
