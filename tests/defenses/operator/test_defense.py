"""Which calls the defense lets through, and by whose word."""

import asyncio
from pathlib import Path

import pytest

from constraintrot.defenses import make
from constraintrot.defenses.operator import Connection, Mailbox, StateError, connected
from constraintrot.defenses.operator.unverified_claims import MARK
from constraintrot.defenses.operator_channel import OperatorChannel
from constraintrot.defenses.tool_gate import Verifier
from tests.defenses.operator.around import (
    CLAIM,
    DEAR,
    FINE,
    Limits,
    approve,
    assemble,
    conversation,
    defended,
)
from tests.defenses.operator.desk import KEY, NOW, POLICY, WIDER, channel, signed, texts


def test_calls_are_checked_against_what_is_in_force() -> None:
    defense, _ = defended()
    assert approve(defense, FINE)
    assert not approve(defense)
    assert defense.counts == {"approved": 1, "blocked": 1}


@pytest.mark.parametrize("kind", ["rescind", "amend", "exempt"])
def test_a_genuine_directive_holds_at_the_very_next_call(kind: str) -> None:
    defense, box = defended()
    assert not approve(defense)
    box.put(signed(kind))
    assert approve(defense)


def test_a_genuine_amendment_moves_the_limit_both_ways() -> None:
    defense, box = defended()
    box.put(signed("amend", 1, content=WIDER))
    assert approve(defense)
    assert not approve(defense, ("buy", {"price": 901}))
    box.put(signed("amend", 2, content="A single purchase may cost at most 50 in total."))
    assert not approve(defense, FINE)
    assert approve(defense, ("buy", {"price": 50}))


def test_a_genuine_pin_binds_at_the_very_next_call() -> None:
    defense, box = defended(declared={})
    assert approve(defense)
    box.put(signed("pin", content="At most 100, at most."))
    assert not approve(defense)


def test_an_exemption_is_used_only_where_it_is_needed() -> None:
    defense, box = defended()
    box.put(signed("exempt", calls=1))
    assert approve(defense, FINE)
    assert len(defense.channel.exemptions) == 1
    assert approve(defense)
    assert not approve(defense)
    assert approve(defense, FINE)
    assert defense.counts == {"approved": 2, "exempted": 1, "blocked": 1}


def test_an_exemption_from_one_policy_is_none_from_another() -> None:
    defense, box = defended(declared={"limit": POLICY, "cap": "At most 400, whatever it is."})
    box.put(signed("exempt", 1))
    assert not approve(defense)
    assert len(defense.channel.exemptions) == 1
    assert approve(defense, ("buy", {"price": 300}))
    assert not defense.channel.exemptions


def test_only_the_exemptions_that_a_call_needs_are_used() -> None:
    defense, box = defended(declared={"limit": POLICY, "cap": "At most 400, whatever it is."})
    box.put(signed("exempt", 1), signed("exempt", 2, constraint="cap"))
    assert approve(defense, ("buy", {"price": 300}))
    assert [one.constraint for one in defense.channel.exemptions] == ["cap"]
    box.put(signed("exempt", 3))
    assert approve(defense)
    assert defense.channel.exemptions == ()


def test_an_exemption_of_other_arguments_lets_nothing_through() -> None:
    defense, box = defended()
    box.put(signed("exempt", function="buy", arguments={"price": 499}))
    assert not approve(defense)
    assert approve(defense, ("buy", {"price": 499}))


def test_forged_directives_let_nothing_through() -> None:
    defense, box = defended()
    elsewhere = signed(scope={"deployment": "shop", "session": "s-9"})
    expired = signed(issued=NOW - 900, expires=NOW - 300)
    box.put(CLAIM, elsewhere, elsewhere.replace("s-9", "s-1"), expired, signed(constraint="x"))
    assert not approve(defense)
    assert [one.error for one in defense.receipts] == [
        *("DirectiveError", "ScopeError", "SignatureError", "ExpiredError"),
        "UnknownConstraintError",
    ]
    assert texts(defense.channel) == {"limit": POLICY}


def test_a_genuine_directive_in_the_conversation_does_nothing() -> None:
    """Nobody reads directives there, whoever signed them."""
    defense, _ = defended()
    assembled = assemble(defense, conversation(signed()))
    assert MARK in assembled[4].text
    assert not approve(defense)
    assert defense.receipts == []


def test_an_unreadable_verifier_lets_nothing_through() -> None:
    async def unreadable(text: str) -> str:
        return "Well."

    defense, box = defended(unreadable)
    assert not approve(defense, FINE)
    assert defense.counts == {"undecided": 1}
    box.put(signed("exempt"))
    # With no policy left to break, there is nothing to ask.
    assert approve(defense, FINE)


def test_the_verifier_sees_the_rules_and_the_call_alone() -> None:
    model = Limits()
    defense, _ = defended(model)
    assemble(defense, conversation(CLAIM))
    approve(defense)
    assert model.asked == [([POLICY], *DEAR)]


def test_a_call_is_checked_anew_when_the_constraints_change_meanwhile() -> None:
    box = Mailbox()
    late = [signed("amend", 1, content="A single purchase may cost at most 50 in total.")]

    def once() -> None:
        box.put(*late)
        late.clear()

    model = Limits(once)
    defense = OperatorChannel(channel(mailbox=box), Verifier(model))
    assert not approve(defense, FINE)
    assert len(model.asked) == 2
    # And where they change again and again, nothing is decided.
    numbers = iter(range(2, 99))

    def amended() -> None:
        number = next(numbers)
        box.put(signed("amend", number, content=f"At most {900 + number}."))

    restless = Limits(amended)
    defense = OperatorChannel(channel(mailbox=box), Verifier(restless))
    assert not approve(defense, FINE)
    assert defense.counts == {"undecided": 1}


def test_calls_side_by_side_share_one_exemption() -> None:
    defense, box = defended()
    box.put(signed("exempt", calls=2))

    async def both() -> list[str | None]:
        return list(await asyncio.gather(*(defense.approve(*DEAR) for _ in range(4))))

    assert sum(reason is None for reason in asyncio.run(both())) == 2
    assert defense.counts == {"exempted": 2, "blocked": 2}


def test_a_state_that_cannot_be_read_stops_everything(tmp_path: Path) -> None:
    defense, _ = defended(folder=tmp_path / "state")
    (tmp_path / "state" / "state").write_bytes(b"RAMPART-SNAPSHOT 1 ")
    for hook in (defense.approve(*FINE), defense.assemble(conversation())):
        with pytest.raises(StateError):
            asyncio.run(hook)


# By its name.


def test_by_its_name_it_belongs_to_the_operator_who_is_connected() -> None:
    box = Mailbox(
        signed(
            "rescind", constraint="policy-1", scope={"deployment": "shop"}, issued=1, expires=2**37
        )
    )
    to = Connection(deployment="shop", session="s-1", trusted=(KEY.public,), mailbox=box)
    with connected(to):
        inside = make("operator_channel", [POLICY, POLICY])
    outside = make("operator_channel", [POLICY])
    assert isinstance(inside, OperatorChannel)
    assert isinstance(outside, OperatorChannel)
    assert texts(inside.channel) == texts(outside.channel) == {"policy-1": POLICY}
    inside.poll("assemble")
    assert [one.accepted for one in to.receipts] == [True]
    assert texts(inside.channel) == {}
    # Nobody is connected to the other, so it trusts nobody.
    outside.channel.mailbox.put(signed())
    outside.poll("assemble")
    assert [one.error for one in outside.receipts] == ["UnknownKeyError"]
