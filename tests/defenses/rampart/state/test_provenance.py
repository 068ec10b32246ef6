"""The lineage of blocks by source, author and run, in one registry and over several."""

from __future__ import annotations

import gc

from constraintrot.defenses.rampart import Principal, Registry

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
    assert len(found.by_author()[CHAIR.id]) == len(found.by_run()["mandate"]) == 2
    assert list(found.by_source()) == ["orchestrator"]
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
