"""Further roles in which scripted models answer, registered by name like other components.

An installed package adds a role through the entry point group ``constraintrot.scripted_roles``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from constraintrot.components import ComponentRegistry


@dataclass(frozen=True)
class Question:
    """A question to a role.

    Attributes:
        before: the texts of the messages before it.
        summary: makes the script's summary of these, which is slow.
        style: the style of its summaries.
        model: the script's name.
    """

    text: str
    before: Sequence[str]
    summary: Callable[[], str]
    style: str
    model: str


@dataclass(frozen=True)
class Role:
    """A registered role.

    Attributes:
        asked: whether a message is a question to it.
        answer: the answer to such a question.
        styles: styles of summaries that it adds; each keeps the policies.
        models: scripts that it adds; in their summaries they drop the policies.
    """

    asked: Callable[[str], bool]
    answer: Callable[[Question], str]
    styles: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


ROLES: ComponentRegistry[Role] = ComponentRegistry(
    "scripted role", __name__, "constraintrot.scripted_roles"
)
