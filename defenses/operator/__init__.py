"""Authority that is not in the token stream: directives that an operator signed.

::

    from constraintrot.defenses.operator import Channel, load_public

    channel = Channel("mail-agent", "s-17", trusted=[load_public("operator.pub")])
    channel.apply(text)
    rules = [held.content for held in channel.constraints]

Governance Decay, section 7, last paragraph. Needs no Inspect.
"""

from constraintrot.defenses.operator.channel import Channel
from constraintrot.defenses.operator.connection import Connection, connected, connection
from constraintrot.defenses.operator.directive import (
    Amend,
    Directive,
    Exempt,
    Pin,
    Rescind,
    Scope,
    broad,
    draft,
)
from constraintrot.defenses.operator.errors import (
    ClockSkewError,
    DirectiveError,
    DuplicateConstraintError,
    ExpiredError,
    KeyFileError,
    OperatorError,
    PinListError,
    ReplayError,
    ScopeError,
    SequenceError,
    SignatureError,
    StateError,
    UnknownConstraintError,
    UnknownKeyError,
)
from constraintrot.defenses.operator.keys import SigningKey, VerifyingKey, load_public, opened
from constraintrot.defenses.operator.pin_list import PinList, load_pins
from constraintrot.defenses.operator.receipt import Mailbox, Receipt
from constraintrot.defenses.operator.state import Constraint, Exemption, State

__all__ = [
    "Amend",
    "Channel",
    "ClockSkewError",
    "Connection",
    "Constraint",
    "Directive",
    "DirectiveError",
    "DuplicateConstraintError",
    "Exempt",
    "Exemption",
    "ExpiredError",
    "KeyFileError",
    "Mailbox",
    "OperatorError",
    "Pin",
    "PinList",
    "PinListError",
    "Receipt",
    "ReplayError",
    "Rescind",
    "Scope",
    "ScopeError",
    "SequenceError",
    "SignatureError",
    "SigningKey",
    "State",
    "StateError",
    "UnknownConstraintError",
    "UnknownKeyError",
    "VerifyingKey",
    "broad",
    "connected",
    "connection",
    "draft",
    "load_pins",
    "load_public",
    "opened",
]
