"""Frames of blocks in a prompt: fences that their content cannot close.

A frame is a fence of tildes with the block's tier, author and name, the content verbatim,
and the same fence again::

    ~~~ pin by owner: no-external-email
    Never send email outside example.com.
    ~~~

The registry states the tier and the author. A writer chooses only the name and the content,
and neither can pose as a pin: the tier comes first, and the fence is longer than any run of
tildes in the content (CommonMark's rule), so content can neither end its frame nor begin
another one. A frame starts with a tilde and ends with a newline, where o200k always splits,
so the counts of frames add up to the count of the text.
"""

import re
from typing import Final, Literal, NamedTuple, TypeAlias, cast

from constraintrot.defenses.rampart.errors import RegistryError

Tier: TypeAlias = Literal["pin", "note"]

OWNER: Final = "owner"
_FENCE: Final = "~~~"
_RUN: Final = re.compile("~{3,}")
_OPENING: Final = re.compile(
    r"(?P<fence>~{3,}) (?P<tier>pin|note) by (?P<author>owner|writer [1-9][0-9]*): (?P<name>[^\n]+)\n"
)


class Frame(NamedTuple):
    """A block as a prompt shows it.

    Attributes:
        tier: ``pin``, or ``note`` for a block of the unpinned tier.
        author: ``owner``, or ``writer`` and a number; see ``writer``.
    """

    tier: Tier
    author: str
    name: str
    content: str


def writer(number: int) -> str:
    """Return a frame's name for the n-th principal, from 1, with a grant of the owner's.

    The principal chose its label itself, so the label says nothing about authority.
    """
    return f"writer {number}"


def frame(name: str, content: str, *, tier: Tier = "note", author: str = OWNER) -> str:
    """Return a block's text in a prompt.

    The name is one checked line; the author is ``owner`` or what ``writer`` gives.
    """
    fence = _FENCE
    if _FENCE in content:
        fence = "~" * (max(map(len, _RUN.findall(content))) + 1)
    return f"{fence} {tier} by {author}: {name}\n{content}\n{fence}\n"


def frames(prompt: str) -> list[Frame]:
    """Return the blocks of a compiled prompt.

    Raises:
        RegistryError: the text is not a compiled prompt.
    """
    blocks: list[Frame] = []
    at = 0
    while at < len(prompt):
        opening = _OPENING.match(prompt, at)
        if opening is None:
            raise RegistryError(f"no frame opens at character {at}: {prompt[at : at + 40]!r}")
        name = opening["name"]
        closing = f"\n{opening['fence']}\n"
        end = prompt.find(closing, opening.end())
        if end < 0:
            raise RegistryError(f"the frame of {name!r} at character {at} is not closed")
        tier, author = cast(Tier, opening["tier"]), opening["author"]
        one = Frame(tier, author, name, prompt[opening.end() : end])
        after = end + len(closing)
        if frame(name, one.content, tier=tier, author=author) != prompt[at:after]:
            raise RegistryError(
                f"the frame of {name!r} at character {at} has another fence than its content needs"
            )
        blocks.append(one)
        at = after
    return blocks
