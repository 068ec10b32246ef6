"""What the tests of the operator channel share: keys, signed directives, a channel."""

from pathlib import Path
from typing import Any

from constraintrot.defenses.operator import Channel, SigningKey, draft

KEY = SigningKey.from_seed(b"operator's key of these tests...")
OTHER = SigningKey.from_seed(b"somebody else's key of the tests")
NOW = 1_800_000_000
POLICY = "A single purchase may cost at most 100 in total."
WIDER = "A single purchase may cost at most 900 in total."
CALL: tuple[str, dict[str, Any]] = ("buy", {"item": "desk", "price": 500})
FIELDS: dict[str, dict[str, Any]] = {
    "pin": {"constraint": "notes", "content": "Dates have the month spelled out."},
    "amend": {"content": WIDER},
    "rescind": {},
    "exempt": {"calls": 1},
}


class Clock:
    """Seconds that a test sets."""

    def __init__(self) -> None:
        self.now = float(NOW)

    def __call__(self) -> float:
        return self.now


def fields(kind: str = "rescind", sequence: int = 1, **more: Any) -> dict[str, Any]:
    """A directive's fields, as JSON has them."""
    common = {
        "kind": kind,
        "key": KEY.id,
        "sequence": sequence,
        "issued": NOW,
        "expires": NOW + 600,
        "scope": {"deployment": "shop", "session": "s-1"},
        "constraint": "limit",
    }
    return {**common, **FIELDS[kind], **more}


def signed(kind: str = "rescind", sequence: int = 1, *, by: SigningKey = KEY, **more: Any) -> str:
    """A signed directive."""
    return by.sign(draft(fields(kind, sequence, **{"key": by.id, **more})))


def channel(**more: Any) -> Channel:
    """A channel with one policy, whose clock stands still."""
    given = {"trusted": [KEY.public], "declared": {"limit": POLICY}, "clock": Clock(), **more}
    return Channel("shop", "s-1", **given)


def kept(folder: Path, **more: Any) -> Channel:
    """The same, with its state in a folder of that one."""
    return channel(folder=folder / "state", **more)


def texts(of: Channel) -> dict[str, str]:
    """What is in force, by name, as the registry has it."""
    return {pin.name: pin.content for pin in of.registry.pins()}
