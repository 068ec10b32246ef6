"""Forged directives, random and mutated: none is ever accepted."""

import json
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from constraintrot.defenses.operator import Channel, OperatorError, SigningKey
from tests.defenses.operator.desk import FIELDS, KEY, NOW, OTHER, channel, signed, texts

GENUINE = [signed(kind, sequence) for kind in FIELDS for sequence in (11, 12)]
VALUES: tuple[Any, ...] = (0, 1, 12, 13, NOW, 2**53, "", "limit", "s-1", "shop", None, True, [], {})
Forge = Callable[[Random, str], str]


def _altered(random: Random, text: str) -> str:
    """Some letters changed, left out, doubled or moved."""
    letters = list(text)
    for _ in range(random.randint(1, 4)):
        at, other = random.randrange(len(letters)), random.randrange(len(letters))
        match random.randrange(4):
            case 0:
                letters[at] = chr(random.randrange(1, 0x250))
            case 1:
                del letters[at : at + random.randint(1, 5)]
            case 2:
                letters.insert(at, letters[other])
            case _:
                letters[at], letters[other] = letters[other], letters[at]
        letters = letters or list(text[:2])
    return "".join(letters)


def _field(random: Random, text: str) -> str:
    """Another value in a field, well written, under the old signature."""
    envelope = json.loads(text)
    directive = envelope["directive"]
    held = random.choice([directive, directive["scope"]])
    name = random.choice([*sorted(held), "content", "calls", "until", "sequence"])
    was = held.get(name)
    step = random.choice([-1, 1, 600, 10**6])
    moved = [was + step] if isinstance(was, int) else [f"{was}x", str(was)[1:]]
    held[name] = random.choice([*VALUES, *moved, *moved, random.choice(sorted(FIELDS))])
    return json.dumps(envelope, sort_keys=True, separators=(",", ":"))


def _signature(random: Random, text: str) -> str:
    """Another signature: of another directive, or with other digits."""
    ours = json.loads(text)
    if random.random() < 0.3:
        ours["signature"] = json.loads(random.choice(GENUINE))["signature"]
    elif random.random() < 0.3:
        ours["signature"] = random.randbytes(64).hex()
    else:
        digits = list(ours["signature"])
        for at in random.sample(range(128), random.randint(1, 3)):
            digits[at] = random.choice("0123456789abcdefABCDEF")
        ours["signature"] = "".join(digits)
    return json.dumps(ours, sort_keys=True, separators=(",", ":"))


def _written(random: Random, text: str) -> str:
    """The same directive in another spelling, which a second reader may read otherwise."""
    loaded = json.loads(text)
    match random.randrange(4):
        case 0:
            return json.dumps(loaded, sort_keys=True)
        case 1:
            return json.dumps(
                loaded, separators=(",", ":"), sort_keys=True, indent=random.randint(0, 2)
            )
        case 2:
            name = random.choice(sorted(loaded["directive"]))
            return text.replace(f'"{name}":', f'"{name}":{random.randint(0, 9)},"{name}":', 1)
        case _:
            return text.replace("limit", "\\u006cimit").replace('"notes"', '"\\u006eotes"')


def _other_key(random: Random, text: str) -> str:
    """Signed by somebody else, in that one's name or in the operator's."""
    by = random.choice([OTHER, SigningKey.from_seed(random.randbytes(32))])
    made = signed(random.choice(sorted(FIELDS)), random.randint(1, 99), by=by)
    return made if random.random() < 0.5 else made.replace(by.id, KEY.id)


def _misused(random: Random, text: str) -> str:
    """Signed by the operator for another time or place, or for a number that is past."""
    kind = random.choice(sorted(FIELDS))
    ago = random.randint(700, 10**6)
    match random.randrange(5):
        case 0:
            return signed(kind, random.randint(11, 99), issued=NOW - ago - 600, expires=NOW - ago)
        case 1:
            return signed(kind, random.randint(11, 99), issued=NOW + ago, expires=NOW + ago + 1)
        case 2:
            scope = {"deployment": "shop", "session": f"s-{random.randint(2, 99)}"}
            return signed(kind, random.randint(11, 99), scope=scope)
        case 3:
            return signed(
                kind, random.randint(11, 99), scope={"deployment": f"shop{random.random()}"}
            )
        case _:
            return signed(kind, random.randint(1, 10))


def _random(random: Random, text: str) -> str:
    """Anything."""
    if random.random() < 0.5:
        return "".join(chr(random.randrange(1, 0x300)) for _ in range(random.randrange(400)))
    shape = {"directive": {key: random.choice(VALUES) for key in json.loads(text)["directive"]}}
    return json.dumps(
        {**shape, "signature": random.randbytes(64).hex()}, sort_keys=True, separators=(",", ":")
    )


FORGERS: tuple[Forge, ...] = (
    _altered, _field, _field, _signature, _signature, _written, _other_key, _misused, _random,
)  # fmt: skip


def forgeries(count: int, seed: int) -> tuple[int, Counter[str]]:
    """How many of so many forgeries are accepted, and the errors of the others."""
    random = Random(seed)
    made = channel()
    # From here on the operator's numbers up to 10 are past.
    made.apply(signed("amend", 10))
    before, log, held = made.state, made.registry.log, texts(made)
    accepted, errors = 0, Counter[str]()
    while errors.total() + accepted < count:
        text = random.choice(GENUINE)
        forged = random.choice(FORGERS)(random, text)
        if forged.strip() in GENUINE:
            continue
        try:
            made.apply(forged.encode("utf-8", "surrogatepass"))
            accepted += 1
        except OperatorError as error:
            errors[type(error).__name__] += 1
    assert (made.state, made.registry.log, texts(made)) == (before, log, held)
    return accepted, errors


EVERY = {
    *("DirectiveError", "SignatureError", "UnknownKeyError", "ScopeError", "ExpiredError"),
    *("ClockSkewError", "SequenceError"),
}


def test_none_of_5000_forgeries_is_accepted() -> None:
    accepted, errors = forgeries(5_000, seed=1)
    assert accepted == 0
    # All checks were reached, so that none hides behind another.
    assert all(errors[name] > 100 for name in EVERY), errors


@pytest.mark.soak
def test_none_of_100000_forgeries_is_accepted() -> None:
    accepted, errors = forgeries(100_000, seed=2)
    assert accepted == 0
    assert errors.keys() >= EVERY


@pytest.mark.parametrize("text", GENUINE[::2])
def test_what_they_are_made_from_is_accepted(text: str) -> None:
    """Or the forgeries would show nothing."""
    made: Channel = channel()
    made.apply(signed("amend", 10))
    made.apply(text)
    assert made.revision == 2
