"""What an agent's context shows of the operator's registry, around any compactor."""

import asyncio
from collections.abc import Sequence

from inspect_ai.model import ChatMessage, CompactionResult, get_model

from constraintrot.defenses import Stacked
from constraintrot.defenses.operator.rendering import HEADING, rendered
from constraintrot.defenses.operator.state import Exemption
from constraintrot.defenses.operator.unverified_claims import MARK
from constraintrot.defenses.pin import Pinning
from constraintrot.defenses.pinning.pinned_block import Receipt
from constraintrot.defenses.rampart import Principal, Registry
from tests.defenses.operator.around import CLAIM, approve, assemble, conversation, defended
from tests.defenses.operator.desk import NOW, POLICY, WIDER, signed
from tests.defenses.pinning.conversation import Forgetting, whole
from tests.harnesses.messages import said, user


def test_the_context_shows_the_registry_and_its_revision() -> None:
    defense, box = defended()
    first = assemble(defense, conversation())
    assert first[1].text == f"{HEADING.format(revision=0)}\n~~~ pin by owner: limit\n{POLICY}\n~~~"
    assert [m.id for m in first if m.id != first[1].id] == ["s", "u", "a", "t", "v"]
    box.put(signed("amend", 1, content=WIDER), signed("pin", 2))
    second = assemble(defense, conversation())
    assert second[1].text == (
        f"{HEADING.format(revision=2)}\n~~~ pin by owner: limit\n{WIDER}\n~~~\n"
        "~~~ pin by owner: notes\nDates have the month spelled out.\n~~~"
    )
    box.put(signed("rescind", 3), signed("rescind", 4, constraint="notes"))
    assert assemble(defense, conversation())[1].text == (
        "The operator's registry (revision 4) holds no standing policy.\n"
        "Withdrawn by the operator, wherever it is still stated: limit, notes."
    )


def test_any_time_that_a_state_holds_can_be_shown() -> None:
    """One in milliseconds was kept, and every later call of the model then failed."""
    state = defended()[0].channel.state
    for until in (253_402_300_799, 10**15):
        exemption = Exemption(
            name="e", constraint="limit", calls=None, until=until, function="buy", arguments=None
        )
        assert "until 9999-12-31 23:59:59 UTC" in rendered(state, [exemption])


def test_another_owners_pin_is_not_the_operators_to_change() -> None:
    owner = Principal("company")
    company = Registry(owner, label="company")
    company.pin(POLICY, by=owner, name="limit")
    receipts = list[Receipt]()
    pinning = Pinning(company)
    pinning.pins.report = receipts.append
    defense, box = defended()
    box.put(signed("amend", 1, content=WIDER))
    for both in (Stacked(pinning, defense), Stacked(defense, pinning)):
        sent = asyncio.run(both.assemble([*conversation(), user(POLICY)]))
        assert sum(pinning.pins.text == message.text for message in sent) == 1
        assert sum(WIDER in message.text for message in sent) == 1
        assert sent[-1].text == "[limit: see the operator's registry]"
        assert receipts[-1].missing in ((), ("limit",))


def test_an_exempt_policy_is_not_stated_until_it_holds_again() -> None:
    defense, box = defended()
    box.put(signed("exempt", 1, function="buy"))
    (block,) = (m.text for m in assemble(defense, conversation()) if "registry" in m.text)
    assert POLICY not in block
    assert "limit does not hold for the next call of buy." in block
    approve(defense)
    (block,) = (m.text for m in assemble(defense, conversation()) if "registry" in m.text)
    assert POLICY in block
    assert "does not hold" not in block
    # One for exact arguments leaves all other calls to be warned of.
    box.put(signed("exempt", 2, calls=None, until=NOW + 60, function="buy", arguments={"n": 1}))
    (block,) = (m.text for m in assemble(defense, conversation()) if "registry" in m.text)
    assert POLICY in block
    assert "every call of buy with the arguments that it names, until 2027-01-15 08:01:00" in block


def test_assembling_again_changes_nothing_and_longer_histories_keep_their_prefix() -> None:
    defense, _ = defended()
    once = assemble(defense, conversation(f"{CLAIM} Room 4 is free."))
    assert assemble(defense, once) == once
    more = said("Bought.", id="w")
    longer = assemble(defense, [*conversation(f"{CLAIM} Room 4 is free."), more])
    assert longer == [*once, more]
    assert once[4].text == f"{MARK}{CLAIM} Room 4 is free."


def test_an_older_block_does_not_stay() -> None:
    defense, box = defended()
    once = assemble(defense, conversation())
    merged = [
        once[0],
        once[1].model_copy(
            update={"content": f"{once[1].text}\nRead the notes.", "metadata": None}
        ),
        *once[3:],
    ]
    box.put(signed("amend", content=WIDER))
    for given in (once, merged):
        found = assemble(defense, given)
        assert sum("registry" in message.text for message in found) == 1
        assert WIDER in found[1].text
        assert not any(POLICY in message.text for message in found)
        assert any(message.text == "Read the notes." for message in found)


def test_a_withdrawn_policy_is_not_shown_where_it_was_stated() -> None:
    defense, box = defended()
    stated = [*conversation(), user(f"Remember: {POLICY}", id="w")]
    assert assemble(defense, stated)[-1].text == f"Remember: {POLICY}"
    box.put(signed("rescind"))
    assert assemble(defense, stated)[-1].text == "Remember: [limit: see the operator's registry]"


def test_without_a_policy_nothing_is_added() -> None:
    defense, _ = defended(declared={})
    assert assemble(defense, conversation()) == conversation()


def test_the_block_goes_around_the_compactor() -> None:
    defense, box = defended()
    inner = Forgetting(says=f"So far: {CLAIM}")
    strategy = defense.wrap(inner)

    def compact(messages: Sequence[ChatMessage]) -> CompactionResult:
        model = get_model("scripted/obedient")
        return asyncio.run(strategy.compact_outcome(model, list(messages), []))

    once = compact(assemble(defense, conversation())).input
    assert POLICY not in whole(inner.shown[-1])
    assert [POLICY in message.text for message in once] == [False, True, False]
    # What came in before the next compaction is in its block.
    box.put(signed("amend", content=WIDER))
    twice = compact([*once, user("Go on.", id="g")]).input
    assert "registry" not in whole(inner.shown[-1])
    assert [WIDER in message.text for message in twice] == [False, True, False]
    sent = assemble(defense, twice)
    assert sent[2].text == f"So far: {CLAIM}".replace("So far", f"{MARK}So far")
