"""A registry, saved, restored, and loaded from seeds."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from constraintrot.defenses.rampart import (
    AuthorityError,
    DuplicateBlockError,
    PinOverflowError,
    Principal,
    Registry,
    RegistryError,
    SeedError,
    SnapshotError,
    snapshot,
)
from tests.defenses.rampart.test_snapshot import KEY

OWNER, AGENT = Principal("owner", b"a secret of the owner's"), Principal("agent")
SEEDS = """---
blocks:
  - name: policy
    priority: 90
    tags: [rule]
  - name: style
---
## policy
Never send email outside example.com.

## style
Be brief.
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "registry.snapshot"


@pytest.fixture
def registry() -> Registry:
    made = Registry(OWNER, label="desk")
    made.grant(AGENT, by=OWNER, pin=True)
    made.pin("Stay.", by=AGENT, name="pin", tags=["a"], run="r")
    made.write("One.", by=OWNER, name="one", priority=7, removable=False)
    made.write("Two.", by=AGENT, name="two", source="seed", at=0)
    made.compile()
    made.compile(query="q", gate=lambda query, blocks: [True, False])
    return made


def _facts(registry: Registry) -> list[tuple[Any, ...]]:
    return [
        (
            b.name, b.content, b.priority, b.source, b.author, b.removable, b.run, b.created,
            b.accesses, b.last_access, b.idle, b.tags, b.pinned, b.tokens, b.digest,
        )
        for b in registry.blocks()
    ]  # fmt: skip


def test_all_comes_back_but_the_ids(registry: Registry, path: Path) -> None:
    registry.snapshot(path, KEY)
    found = Registry.restore(path, KEY, owner=Principal("again", b"a secret of the owner's"))
    assert _facts(found) == _facts(registry)
    assert found.compile().prompt == registry.compile().prompt
    assert not {b.id for b in found.blocks()} & {b.id for b in registry.blocks()}
    assert found.id != registry.id
    assert (found.label, found.revision) == (registry.label, registry.revision)
    assert found.log[:-1] == registry.log
    assert found.log[-1].action == "restore"
    assert found.verify_log()
    assert [line.author for line in found.provenance().here] == [
        line.author for line in registry.provenance().here
    ]
    found.pin("More.", by=AGENT)  # the grant came back too
    with pytest.raises(AuthorityError):
        found.evict(found.named("pin").id, by=OWNER, force=True)


def test_the_file_holds_no_secret_and_no_block_id(registry: Registry, path: Path) -> None:
    registry.snapshot(path, KEY)
    content = path.read_bytes()
    for secret in (
        b"a secret of the owner's",
        KEY,
        *(b.id.hex.encode() for b in registry.blocks()),
    ):
        assert secret not in content


def test_somebody_else_restores_nothing(registry: Registry, path: Path) -> None:
    registry.snapshot(path, KEY)
    with pytest.raises(AuthorityError):
        Registry.restore(path, KEY, owner=AGENT)


def _set(key: str, value: object) -> Callable[[dict[str, Any]], None]:
    return lambda state: state.__setitem__(key, value)


def _block(key: str, value: object) -> Callable[[dict[str, Any]], None]:
    return lambda state: state["blocks"][1].__setitem__(key, value)


@pytest.mark.parametrize(
    "change",
    [
        _set("format", 2), _set("label", 3), _set("owner", "x"), _set("grants", []),
        _set("grants", {"x": True}), _set("revision", "x"), _set("blocks", None), _set("log", [[]]),
        _block("name", "ONE"), _block("name", "a\nb"), _block("content", 3), _block("author", "x"),
        _block("author", Principal("stranger").id.hex),
        _block("priority", 200), _block("removable", "no"), _block("pinned", 0), _block("accesses", None),
        lambda state: state["blocks"][0].pop("content"),
        lambda state: state["log"].pop(2),
        lambda state: state["log"][2].__setitem__(4, "other"),
        lambda state: state.pop("written"),
    ],
)  # fmt: skip
def test_a_well_signed_state_that_makes_no_sense_is_refused(
    registry: Registry, path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    registry.snapshot(path, KEY)
    state = dict(snapshot.read(path, KEY))
    change(state)
    snapshot.write(path, state, KEY)
    with pytest.raises(SnapshotError):
        Registry.restore(path, KEY, owner=OWNER)


def test_counts_in_a_snapshot_are_not_believed(path: Path) -> None:
    registry = Registry(OWNER)
    registry.pin("word " * 500, by=OWNER)
    registry.snapshot(path, KEY)
    state = dict(snapshot.read(path, KEY))
    blocks: Any = state["blocks"]
    blocks[0]["tokens"] = 0
    snapshot.write(path, state, KEY)
    found = Registry.restore(path, KEY, owner=OWNER)
    with pytest.raises(PinOverflowError):
        found.compile(10)


# Several processes, and files that somebody put there


def names(path: Path) -> list[str]:
    return [block.name for block in Registry.restore(path, KEY, owner=OWNER).blocks()]


def test_two_processes_do_not_lose_each_others_pins(path: Path) -> None:
    Registry(OWNER).snapshot(path, KEY)
    one, two = (Registry.restore(path, KEY, owner=OWNER) for _ in range(2))
    one.pin("One.", by=OWNER, name="one")
    two.pin("Two.", by=OWNER, name="two")
    one.snapshot(path, KEY)
    with pytest.raises(SnapshotError, match="restore it and make your changes again"):
        two.snapshot(path, KEY)
    assert names(path) == ["one"]
    again = Registry.restore(path, KEY, owner=OWNER)
    again.pin("Two.", by=OWNER, name="two")
    again.snapshot(path, KEY)
    assert names(path) == ["one", "two"]
    two.snapshot(path, KEY, overwrite=True)
    assert names(path) == ["two"]


def test_a_restore_that_changed_nothing_keeps_nobody_from_saving(path: Path) -> None:
    registry = Registry(OWNER)
    registry.pin("One.", by=OWNER, name="one")
    registry.snapshot(path, KEY)
    Registry.restore(path, KEY, owner=OWNER).snapshot(path, KEY)
    registry.pin("Two.", by=OWNER, name="two")
    registry.snapshot(path, KEY)
    registry.snapshot(path, KEY)
    assert names(path) == ["one", "two"]


def test_threads_that_save_one_registry_lose_nothing(path: Path) -> None:
    registry = Registry(OWNER)

    def pin(number: int) -> None:
        registry.pin("Stay.", by=OWNER, name=f"pin {number}")
        registry.snapshot(path, KEY)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(pin, range(24)))
    assert sorted(names(path)) == sorted(f"pin {number}" for number in range(24))


@pytest.mark.parametrize("content", [b"", b"an older one", b"RAMPART-SNAPSHOT 1 "])
def test_what_is_no_earlier_state_is_not_overwritten(
    registry: Registry, path: Path, content: bytes
) -> None:
    path.write_bytes(content)
    with pytest.raises(SnapshotError, match="give overwrite=True"):
        registry.snapshot(path, KEY)
    assert path.read_bytes() == content
    Registry(OWNER, label="another").snapshot(path, KEY, overwrite=True)
    with pytest.raises(SnapshotError, match="another registry"):
        registry.snapshot(path, KEY)
    with pytest.raises(SnapshotError, match="another key"):
        Registry(OWNER).snapshot(path, b"another key of enough bytes")


def test_an_older_file_that_was_put_back_is_refused(registry: Registry, path: Path) -> None:
    registry.snapshot(path, KEY)
    old = path.read_bytes()
    registry.pin("Later.", by=OWNER)
    registry.snapshot(path, KEY)
    saved = registry.revision
    assert Registry.restore(path, KEY, owner=OWNER, least_revision=saved).revision == saved
    path.write_bytes(old)
    with pytest.raises(SnapshotError, match=f"{saved} at least is expected"):
        Registry.restore(path, KEY, owner=OWNER, least_revision=saved)
    wrong: Any = "5"
    with pytest.raises(RegistryError):
        Registry.restore(path, KEY, owner=OWNER, least_revision=wrong)


# Seeds


@pytest.fixture
def seeds(tmp_path: Path) -> Path:
    path = tmp_path / "seeds.md"
    path.write_text(SEEDS)
    return path


def test_seeds_become_blocks_of_the_caller(seeds: Path) -> None:
    registry = Registry(OWNER)
    registry.grant(AGENT, by=OWNER, pin=True)
    loaded = registry.load(seeds, by=AGENT, pin=["policy"])
    assert registry.blocks() == loaded
    assert [(b.name, b.pinned, b.source, b.author == AGENT.id) for b in loaded] == [
        ("policy", True, "seed", True),
        ("style", False, "seed", True),
    ]
    assert (loaded[0].priority, loaded[0].tags, loaded[1].priority) == (90, ("rule",), 50)
    again = Registry(OWNER)
    assert [b.name for b in again.load(seeds, by=OWNER, names=["style"])] == ["style"]
    by_tag = Registry(OWNER).load(seeds, by=OWNER, pin=lambda seed: "rule" in seed.tags)
    assert [b.pinned for b in by_tag] == [True, False]
    assert not {b.id for b in by_tag} & {b.id for b in loaded}


def test_a_load_that_fails_loads_nothing(seeds: Path, tmp_path: Path) -> None:
    registry = Registry(OWNER)
    registry.grant(AGENT, by=OWNER)
    registry.write("x", by=OWNER, name="Style")
    before = registry.blocks(), registry.log

    with pytest.raises(DuplicateBlockError):
        registry.load(seeds, by=OWNER)
    with pytest.raises(AuthorityError):
        registry.load(seeds, by=AGENT, pin=["policy"], names=["policy"])
    with pytest.raises(RegistryError, match="other"):
        registry.load(seeds, by=OWNER, pin=["other"], names=["policy"])
    with pytest.raises(RegistryError):
        registry.load(seeds, by=OWNER, pin="policy", names=["policy"])
    with pytest.raises(SeedError):
        registry.load(tmp_path / "none.md", by=OWNER)
    assert (registry.blocks(), registry.log) == before
