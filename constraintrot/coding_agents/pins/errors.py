"""Errors of putting pins into an agent's settings."""

from __future__ import annotations

from constraintrot.errors import ConstraintRotError


class PinInstallError(ConstraintRotError, RuntimeError):
    """Settings, rules or a state folder cannot be used; nothing was changed."""


class OlderListError(PinInstallError):
    """A signed list is older than one that was accepted before, which stays in force."""
