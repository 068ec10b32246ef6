"""Errors of a block registry.

::

    RampartError
    ├── AuthorityError        the caller may not do this to that block or registry
    ├── PinOverflowError      the pinned tier does not fit into the budget
    ├── UnknownBlockError     no block has that id or name
    ├── DuplicateBlockError   a block's name is taken
    ├── SeedError             a seed file is wrong, too large, too deep or out of bounds
    ├── SnapshotError         a snapshot is truncated, tampered with or unreadable
    └── RegistryError         any other argument that a registry refuses

``EmbeddingError`` of ``constraintrot.errors``: there is no embedder, or its vectors cannot be
used. After any of them the registry is unchanged.
"""

from constraintrot.errors import ConstraintRotError


class RampartError(ConstraintRotError):
    """The root of the registry's errors."""


class AuthorityError(RampartError, PermissionError):
    """The caller lacks the authority; holding the right ``Principal`` gives it."""


class PinOverflowError(RampartError, ValueError):
    """The pins alone exceed the budget; a prompt without a pin is never made.

    Attributes:
        needed: tokens of the framed pinned tier.
        budget: tokens allowed.
    """

    def __init__(self, needed: int, budget: int) -> None:
        self.needed, self.budget = needed, budget
        super().__init__(
            f"the pins need {needed} tokens and the budget is {budget}; "
            "raise the budget, or let a pin's author shorten it"
        )


class UnknownBlockError(RampartError, LookupError):
    """No block in the registry has that id or name."""


class DuplicateBlockError(RampartError, ValueError):
    """A block's name is taken, in this registry or within what is being loaded."""


class SeedError(RampartError, ValueError):
    """A seed source cannot be read as blocks."""


class SnapshotError(RampartError, ValueError):
    """A snapshot cannot be trusted or read."""


class RegistryError(RampartError, ValueError):
    """A registry refuses an argument."""
