"""Errors of putting pins into an agent's settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from constraintrot.errors import ConstraintRotError


class PinInstallError(ConstraintRotError, RuntimeError):
    """Settings, rules or a state folder cannot be used; nothing was changed."""


class OlderListError(PinInstallError):
    """A signed list is older than one that was accepted before on this machine.

    Args:
        message: the reason.
        newest: owner and revision of the list that was accepted before.
    """

    def __init__(self, message: str, newest: tuple[str, int]) -> None:
        super().__init__(message)
        self._newest = newest

    def holds(self, signed: Mapping[str, Any] | None) -> bool:
        """Return whether the compiled list is the newest one, so that it stays in force."""
        return signed is not None and (signed["owner"], signed["revision"]) == self._newest
