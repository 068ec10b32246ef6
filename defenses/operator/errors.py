"""Errors of an operator's directives.

::

    OperatorError
    ├── DirectiveError           not a directive of this version, or not written canonically
    ├── SignatureError           not signed by the key that it names
    │   └── UnknownKeyError      that key is not trusted here
    ├── ScopeError               meant for another deployment or session
    ├── ExpiredError             applied too late
    ├── ClockSkewError           issued later than this clock allows for
    ├── SequenceError            its number is not above the last one of its key
    │   └── ReplayError          it was applied before
    ├── UnknownConstraintError   no such constraint is pinned
    ├── DuplicateConstraintError a constraint of that name is pinned already
    ├── PinListError             not a signed list of pins of this version
    ├── KeyFileError             a key file is missing, open to others, or not a key
    └── StateError               the channel's state cannot be read or written

After any of them the registry and the sequence numbers are unchanged. No message holds
a private key.
"""

from constraintrot.errors import ConstraintRotError


class OperatorError(ConstraintRotError):
    """The root of the operator channel's errors."""


class DirectiveError(OperatorError, ValueError):
    """A text is not a directive that this version reads."""


class SignatureError(OperatorError, PermissionError):
    """A directive is not what the holder of its key signed."""


class UnknownKeyError(SignatureError):
    """A directive names a key that is not trusted here."""


class ScopeError(OperatorError, PermissionError):
    """A directive is meant for another deployment or session."""


class ExpiredError(OperatorError, ValueError):
    """A directive came after its expiry."""


class ClockSkewError(OperatorError, ValueError):
    """A directive was issued in this clock's future."""


class SequenceError(OperatorError, ValueError):
    """A directive's number is not above the last one that its key had."""


class ReplayError(SequenceError):
    """A directive was applied before."""


class UnknownConstraintError(OperatorError, LookupError):
    """A directive is about a constraint that is not pinned."""


class DuplicateConstraintError(OperatorError, ValueError):
    """A directive pins under a name that is taken."""


class PinListError(OperatorError, ValueError):
    """A file is not a signed list of pins that this version reads."""


class KeyFileError(OperatorError, ValueError):
    """A key file cannot be used."""


class StateError(OperatorError, RuntimeError):
    """The channel's state on disk cannot be read or written."""
