"""What callers of another mind hand in: subclasses, huge numbers of calls, letters that look alike."""

import tracemalloc
from typing import Any
from uuid import UUID

import pytest

from constraintrot.defenses.pinning import block_marks
from constraintrot.defenses.pinning.pinned_block import PinnedBlock
from constraintrot.defenses.rampart import DuplicateBlockError, Principal, Registry, RegistryError
from constraintrot.defenses.rampart.state import ledger, store

OWNER, AGENT = Principal("owner"), Principal("agent")


class Text(str):
    """A text that is equal to all, and has no hash."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return True

    def __str__(self) -> str:
        raise RuntimeError("no text")

    def encode(self, *args: Any, **how: Any) -> bytes:
        return b"innocuous"


class Id(UUID):
    """An id that is equal to all, and has no hash."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return True


@pytest.fixture
def registry() -> Registry:
    made = Registry(OWNER)
    made.grant(AGENT, by=OWNER, pin=True)
    made.pin("Send no email.", by=OWNER, name="email")
    return made


def whole(registry: Registry) -> None:
    """All that reads the log and the blocks works."""
    assert registry.verify_log()
    assert len(registry.log) >= 1
    assert registry.provenance().rows()
    assert registry.verify(registry.compile().prompt).held
    for block in registry.blocks():
        assert {type(block.name), type(block.content), type(block.source)} == {str}
        assert type(block.id) is UUID
        assert all(type(tag) is str for tag in block.tags)


def test_texts_of_foreign_types_become_plain(registry: Registry) -> None:
    given: dict[str, Any] = {
        "content": Text("A note."), "name": Text("note"), "source": Text("agent"),
        "run": Text("run"), "tags": [Text("tag")],
    }  # fmt: skip
    note = registry.write(by=AGENT, **given)
    registry.amend(note.id, Text("Another note."), by=AGENT)
    assert registry.named("note").content == "Another note."
    registry.write_all({"one": Text("x")}, by=AGENT, source=Text("seed"))  # type: ignore[arg-type]
    registry.pin(Text("A rule."), by=AGENT, name=Text("rule"), source=Text("orchestrator"))  # type: ignore[arg-type]
    whole(registry)
    # A run that is equal to all names its own blocks only.
    assert [block.name for block in registry.rollback(Text("run"), by=AGENT)] == ["note"]
    with pytest.raises(RegistryError, match="source is one of"):
        registry.write("x", by=AGENT, source=Text("mine"))  # type: ignore[arg-type]
    whole(registry)


def test_ids_of_foreign_types_become_plain(registry: Registry) -> None:
    block = registry.write("A note.", by=AGENT, name="note")
    pin = registry.named("email")
    foreign = Id(int=block.id.int)
    registry.amend(foreign, "Another note.", by=AGENT)
    registry.promote(foreign, by=AGENT)
    registry.promote([block.id], by=AGENT)
    registry.grant(Id(int=7), by=OWNER)
    assert registry.get(foreign).content == "Another note."
    assert registry.named("email") == pin
    whole(registry)
    registry.evict(foreign, by=AGENT)
    registry.revoke(Id(int=7), by=OWNER)
    for wrong in ("x", None, 7):
        with pytest.raises(RegistryError, match="by its UUID"):
            registry.get(wrong)  # type: ignore[arg-type]
        with pytest.raises(RegistryError, match="by its UUID"):
            registry.grant(wrong, by=OWNER)  # type: ignore[arg-type]
    whole(registry)


@pytest.mark.parametrize("fails", ["append", "view"])
def test_a_write_that_fails_leaves_nothing(
    registry: Registry, fails: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = registry.compile().prompt, registry.log, registry.manifest()
    calls: list[object] = []

    def second(self: object, *args: Any, **given: Any) -> Any:
        calls.append(args)
        if len(calls) == 2:
            raise MemoryError
        return kept(self, *args, **given)

    owner = ledger.Ledger if fails == "append" else store.Store
    kept = getattr(owner, fails)
    with monkeypatch.context() as patch:
        patch.setattr(owner, fails, second)
        with pytest.raises(MemoryError):
            registry.write_all({"one": "x", "two": "y", "three": "z"}, by=AGENT)
    assert (registry.compile().prompt, registry.log, registry.manifest()) == before
    registry.write_all({"one": "x", "two": "y"}, by=AGENT)
    whole(registry)


def test_moves_without_number_take_bounded_memory(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "MOST_MOVES", 64)
    ids = [registry.write("x", by=AGENT).id for _ in range(3)]
    revision = registry.revision
    for at in range(5_000):
        registry.promote(ids[at % 3], by=AGENT)
    moves = [entry for entry in registry.log if entry.action == "promote"]
    assert len(moves) < 80
    assert '"moves":4096' in moves[-1].detail
    assert registry.revision == revision + 5_000
    whole(registry)


def test_revisions_of_a_large_pin_take_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_marks, "_MOST_CHARACTERS", 1_000_000)
    registry = Registry(OWNER, counter=len)
    pin = registry.pin("x", by=OWNER)
    block = PinnedBlock(registry, report=lambda _: None)
    tracemalloc.start()
    for number in range(60):
        registry.amend(pin.id, f"{number} " * 50_000, by=OWNER)
        last, text = registry.pinned_text(), block.text
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 4_000_000
    assert last.strip() in text
    # The last is still taken out whole, and small ones are kept as before.
    assert block.less(f"Before.\n\n{text}").text == "Before."
    registry.amend(pin.id, "y", by=OWNER)
    assert block.into(f"Before.\n\n{text}").count("Standing policies") == 1


@pytest.mark.parametrize(
    "twin",
    [
        "еmail", "emаil", "emaiⅼ", "ℯmail", "𝐞mail", "ｅmail", "emaı1", "emai١", "emɑil", "℮mail",
        "emaiӏ", "emaіl", "emai׀",
    ],
)  # fmt: skip
def test_a_name_that_unicode_calls_confusable_is_taken(registry: Registry, twin: str) -> None:
    assert twin != "email"
    with pytest.raises(DuplicateBlockError, match=r"looks like|is in the registry"):
        registry.write("x", by=AGENT, name=twin)


def test_names_of_other_scripts_stay_apart(registry: Registry) -> None:
    for name in ("邮件", "郵件", "почта", "ηλεκτρονικό", "correo", "メール", "이메일", "émail-2"):
        registry.write("x", by=AGENT, name=name)
    assert len(registry.blocks()) == 9
