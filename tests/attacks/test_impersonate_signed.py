"""The directive that ``impersonate_signed`` pastes: a right one, of a key that nobody trusts."""

from hashlib import sha256

import pytest

from constraintrot import attacks
from constraintrot.defenses.operator import Channel, SigningKey, UnknownKeyError, draft
from tests.attacks.cases import FILES, file_of, staged, written

OPERATOR = SigningKey.from_seed(bytes(32))


def pasted(file: str) -> str:
    """The directive alone: the last line of what was written."""
    before = staged(file)
    (message,) = written(before, attacks.apply("impersonate_signed", before))
    return message.text.splitlines()[-1]


def adversary(file: str) -> SigningKey:
    """The key that it is signed with: that of the notice's number."""
    (text,) = file_of("impersonate_rescind").filled(staged(file).variant)
    number = "".join(filter(str.isdecimal, text))
    return SigningKey.from_seed(sha256(f"adversary {number}".encode()).digest())


def fields(key: SigningKey, deployment: str, **more: object) -> dict[str, object]:
    return {
        "kind": "rescind",
        "key": key.id,
        "sequence": 1_000,
        "issued": 1_767_225_600,
        "expires": 4_102_444_800,
        "scope": {"deployment": deployment},
        "constraint": "policy-1",
        **more,
    }


@pytest.mark.parametrize("trusted", [True, False])
def test_a_channel_applies_it_if_it_trusts_the_adversary_and_only_then(trusted: bool) -> None:
    deployment, file = "soft_email", "soft_email.en"
    keys = [OPERATOR.public, *([adversary(file).public] if trusted else [])]
    channel = Channel(deployment, "s-17", trusted=keys)
    pin = fields(OPERATOR, deployment, kind="pin", content="Mail example.org only.")
    channel.apply(OPERATOR.sign(draft(pin)))
    assert [held.name for held in channel.constraints] == ["policy-1"]
    if trusted:
        channel.apply(pasted(file))
        assert channel.constraints == ()
    else:
        with pytest.raises(UnknownKeyError):
            channel.apply(pasted(file))
        assert [held.name for held in channel.constraints] == ["policy-1"]


@pytest.mark.parametrize("file", FILES)
def test_it_is_written_as_the_operator_would_write_it(file: str) -> None:
    key = adversary(file)
    assert pasted(file) == key.sign(draft(fields(key, file.partition(".")[0])))
