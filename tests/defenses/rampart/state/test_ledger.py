"""The log, in which an edit anywhere shows, and the lineage that is read off it."""

import gc
from collections.abc import Callable
from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constraintrot.defenses.rampart import Principal, Registry, RegistryError, chained
from constraintrot.defenses.rampart.state.ledger import Entry, parsed

OWNER, AGENT = Principal("owner"), Principal("agent")


def lived() -> Registry:
    registry = Registry(OWNER, label="one")
    registry.grant(AGENT, by=OWNER)
    registry.pin("Stay.", by=OWNER, name="pin")
    block = registry.write("a", by=AGENT, name="a", run="r")
    registry.amend(block.id, "b", by=AGENT)
    registry.write("c", by=AGENT, name="c", run="r")
    registry.promote(block.id, 1, by=OWNER)
    registry.evict(block.id, by=OWNER)
    registry.rollback("r", by=AGENT)
    registry.revoke(AGENT, by=OWNER)
    return registry


def test_every_mutation_is_logged_with_who_did_it() -> None:
    registry = lived()
    assert [(e.action, e.name, e.by == OWNER.id) for e in registry.log] == [
        ("create", "", True),
        ("grant", "", True),
        ("pin", "pin", True),
        ("write", "a", False),
        ("amend", "a", False),
        ("write", "c", False),
        ("promote", "", True),
        ("evict", "a", True),
        ("rollback", "c", False),
        ("revoke", "", True),
    ]
    assert '"names":["a"]' in registry.log[6].detail
    assert registry.verify_log()
    registry.compile()
    assert len(registry.log) == 10


def _tampered(change: str, at: int) -> Callable[[list[Entry]], None]:
    def edit(entries: list[Entry]) -> None:
        if change == "drop":
            del entries[at]
        elif change == "swap":
            entries[at], entries[at - 1] = entries[at - 1], entries[at]
        elif change == "double":
            entries.insert(at, entries[at])
        else:
            old = getattr(entries[at], change)
            new: object = f"{old}0"
            if isinstance(old, UUID):
                new = uuid4()
            elif isinstance(old, int | float):
                new = old + 1
            entries[at] = replace(entries[at], **{change: new})  # type: ignore[arg-type]

    return edit


CHANGES = (
    *("drop", "swap", "double", "index", "time", "action", "by"),
    *("name", "digest", "detail", "previous", "hash"),
)


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(CHANGES), st.integers(0, 9))
def test_an_edit_anywhere_shows(change: str, at: int) -> None:
    registry = lived()
    assert registry.verify_log()
    _tampered(change, at)(registry._store.ledger._entries)
    assert not registry.verify_log()


def test_a_cut_end_shows_and_so_does_an_entry_put_after_it() -> None:
    for left in (0, 5, 9):
        registry = lived()
        assert registry.verify_log()
        del registry._store.ledger._entries[left:]
        assert not registry.verify_log()
        registry.write("x", by=OWNER)
        assert not registry.verify_log()


@pytest.mark.parametrize("change", ["drop", "swap", "double", "edit", "cut"])
def test_an_edit_before_the_first_reading_shows_too(change: str) -> None:
    registry = lived()
    waiting = registry._store.ledger._waiting
    if change == "drop":
        del waiting[2]
    elif change == "swap":
        waiting[1], waiting[2] = waiting[2], waiting[1]
    elif change == "double":
        waiting.insert(1, waiting[1])
    elif change == "edit":
        waiting[1] = (*waiting[1][:3], "another", *waiting[1][4:])
    else:
        del waiting[3:]
    assert not registry.verify_log()
    registry.write("x", by=OWNER)
    assert not registry.verify_log()


def test_an_exported_log_is_checked_by_itself() -> None:
    log = lived().log
    assert chained(log)
    assert chained(())
    assert not chained(log[1:])
    assert [parsed(entry.row()) for entry in log] == list(log)


@pytest.mark.parametrize("row", [None, [], [1] * 9, ["x"], [0, 0.0, "steal", "0" * 32, *"abcde"]])
def test_what_is_no_entry_is_refused(row: object) -> None:
    with pytest.raises(RegistryError):
        parsed(row)


CHAIR, TABLE, AGENT = Principal("chair"), Principal("table"), Principal("agent")


def test_a_line_tells_a_blocks_whole_life() -> None:
    registry = Registry(TABLE)
    registry.grant(AGENT, by=TABLE)
    kept = registry.pin("Stay.", by=TABLE, name="kept", run="setup")
    first = registry.write("a", by=AGENT, name="same", run="r")
    changed = registry.amend(first.id, "b", by=AGENT)
    registry.evict(first.id, by=TABLE)
    registry.write("c", by=AGENT, name="same", source="seed", run="r")
    registry.rollback("r", by=AGENT)
    registry.write("d", by=AGENT, name="same")
    here = registry.provenance().here
    assert [(x.name, x.state, x.ended_by, x.amended, x.source) for x in here] == [
        ("kept", "live", None, 0, "orchestrator"),
        ("same", "evicted", TABLE.id, 1, "agent"),
        ("same", "rolled back", AGENT.id, 0, "seed"),
        ("same", "live", None, 0, "agent"),
    ]
    assert (here[0].digest, here[0].pinned, here[0].run) == (kept.digest, True, "setup")
    assert here[1].digest == changed.digest


def test_what_a_supervisor_wrote_elsewhere_is_in_its_report_and_nothing_else() -> None:
    chair = Registry(CHAIR)
    tables = [Registry(TABLE) for _ in range(2)]
    for number, table in enumerate(tables):
        table.grant(CHAIR, by=TABLE, pin=True)
        table.pin(f"Budget {number}.", by=CHAIR, name="budget", run="mandate")
        table.write("Their own.", by=TABLE)
    found = chair.provenance()
    assert found.here == ()
    assert {line.registry for line in found.elsewhere} == {table.id for table in tables}
    assert {line.name for line in found.elsewhere} == {"budget"}
    assert len(tables[0].provenance().elsewhere) == 1
    told = {(line.author, line.run, line.source) for line in found.elsewhere}
    assert told == {(CHAIR.id, "mandate", "orchestrator")}
    assert [row["name"] for row in found.rows()] == ["budget", "budget"]


def test_registries_that_are_gone_are_not_reported() -> None:
    chair = Registry(CHAIR)
    chair_only = Principal("chair of this test")
    own = Registry(chair_only)
    chair.grant(chair_only, by=CHAIR)
    chair.write("x", by=chair_only)
    assert len(own.provenance().elsewhere) == 1
    del chair
    gc.collect()
    assert own.provenance().elsewhere == ()
