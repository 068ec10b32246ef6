"""The guarantees by example, and that each fault known elsewhere is none here."""

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from constraintrot import tokens
from constraintrot.defenses import rampart
from constraintrot.defenses.rampart import (
    AuthorityError,
    DuplicateBlockError,
    EmbeddingError,
    Frame,
    Line,
    PinOverflowError,
    Principal,
    Registry,
    RegistryError,
    UnknownBlockError,
    frames,
)
from constraintrot.defenses.rampart.state import store

OWNER, SUPERVISOR, AGENT, STRANGER = map(Principal, ("owner", "supervisor", "agent", "stranger"))
POLICY = "Never send email outside example.com."


@pytest.fixture
def registry() -> Registry:
    """One pin of the owner's, a grant to pin, a grant to write."""
    made = Registry(OWNER)
    made.grant(SUPERVISOR, by=OWNER, pin=True)
    made.grant(AGENT, by=OWNER)
    made.pin(POLICY, by=OWNER, name="policy")
    return made


def test_exported_names() -> None:
    assert sorted(rampart.__all__) == rampart.__all__
    assert all(hasattr(rampart, name) for name in rampart.__all__)


# The pinned tier


def test_pins_over_the_budget_raise_and_nothing_changes(registry: Registry) -> None:
    registry.write("A lesson.", by=AGENT)
    before = registry.blocks(), registry.revision, registry.log
    needed = registry.pins()[0].tokens
    for call in (registry.compile, registry.dry_run):
        with pytest.raises(PinOverflowError) as caught:
            call(needed - 1)
        assert (caught.value.needed, caught.value.budget) == (needed, needed - 1)
    assert (registry.blocks(), registry.revision, registry.log) == before
    assert registry.compile(needed).names == ("policy",)


def test_no_gate_and_no_block_written_in_front_keeps_a_pin_out(registry: Registry) -> None:
    registry.write("x " * 500, by=AGENT, at=0)
    small = registry.write("A lesson.", by=AGENT)
    found = registry.compile(40)
    assert found.names == ("policy", small.name)
    assert [(e.reason, e.tokens > 40) for e in found.excluded] == [("budget", True)]
    gated = registry.compile(query="q", gate=lambda query, blocks: [False] * len(blocks))
    assert gated.names == ("policy",)
    assert [e.reason for e in gated.excluded] == ["gate", "gate"]


def test_pins_have_their_own_order(registry: Registry) -> None:
    second = registry.pin("Second.", by=SUPERVISOR, name="second")
    registry.write("A lesson.", by=AGENT, at=0, name="lesson")
    registry.promote(second.id, by=SUPERVISOR)
    assert registry.compile().names == ("second", "policy", "lesson")
    for by in (SUPERVISOR, AGENT, STRANGER):
        with pytest.raises(AuthorityError):
            registry.promote(registry.named("policy").id, 1, by=by)
    with pytest.raises(RegistryError, match="one tier"):
        registry.promote([second.id, registry.named("lesson").id], by=OWNER)
    assert registry.pin("First.", by=OWNER, at=0).name == registry.pins()[0].name


@pytest.mark.parametrize("content", ["", "  \n\t", "\u2003", None, b"x", 3, "a\ud800b"])
def test_a_pin_says_something(registry: Registry, content: Any) -> None:
    with pytest.raises(RegistryError):
        registry.pin(content, by=OWNER)
    with pytest.raises(RegistryError):
        registry.amend(registry.named("policy").id, content, by=OWNER)
    assert [pin.content for pin in registry.pins()] == [POLICY]


def test_verification_is_verbatim_and_per_text(registry: Registry) -> None:
    pin = registry.named("policy")
    assert registry.verify(registry.compile().prompt).held
    assert registry.verify(["before", f"Also:\n{registry.pinned_text()}And more."]).held
    assert registry.verify(registry.pinned_text().rstrip("\n")).held
    quoted = [POLICY, f"This is withdrawn: {POLICY}", f"> {registry.pinned_text()}"]
    for text in ("", *quoted, ["~~~ policy", POLICY], registry.pinned_text()[:-2]):
        found = registry.verify(text)
        assert not found.held
        assert [block.id for block in found.missing] == [pin.id]
    assert found.manifest == registry.manifest()
    assert found.revision == registry.revision
    with pytest.raises(RegistryError):
        registry.verify([{"content": POLICY}])  # type: ignore[list-item]
    assert Registry(OWNER).verify("").held


def test_the_pinned_text_and_the_manifest_follow_the_pins_only(registry: Registry) -> None:
    text, manifest = registry.pinned_text(), registry.manifest()
    registry.write("A lesson.", by=AGENT)
    registry.compile()
    assert (registry.pinned_text(), registry.manifest()) == (text, manifest)
    assert frames(text) == [Frame("pin", "owner", "policy", POLICY)]
    registry.amend(registry.named("policy").id, "Other.", by=OWNER)
    assert registry.manifest() != manifest
    assert frames(registry.pinned_text())[0].content == "Other."
    assert Registry(OWNER).pinned_text() == ""


def test_an_unchanged_compile_returns_equal_objects_that_nobody_shares(registry: Registry) -> None:
    one, two = registry.compile(), registry.compile()
    assert one == two
    assert one is not two
    object.__setattr__(one, "prompt", "nothing")
    assert registry.compile() == two


# Authority


def test_a_supervisors_block_carries_its_author_and_resists_the_owner(registry: Registry) -> None:
    block = registry.write("Budget: 5.", by=SUPERVISOR, removable=False, run="mandate")
    pin = registry.pin("Report.", by=SUPERVISOR, run="mandate")
    assert block.author == pin.author == SUPERVISOR.id
    for one in (block, pin):
        for call in (
            lambda one=one: registry.evict(one.id, by=OWNER, force=True),
            lambda one=one: registry.amend(one.id, "x", by=OWNER),
            lambda: registry.rollback("mandate", by=OWNER, force=True),
        ):
            with pytest.raises(AuthorityError):
                call()
        with pytest.raises(AuthorityError, match="force"):
            registry.evict(one.id, by=SUPERVISOR)
    with pytest.raises(AuthorityError, match="force"):
        registry.rollback("mandate", by=SUPERVISOR)
    assert len(registry.rollback("mandate", by=SUPERVISOR, force=True)) == 2


def test_writing_and_pinning_need_a_grant(registry: Registry) -> None:
    with pytest.raises(AuthorityError):
        registry.write("x", by=STRANGER)
    for by in (AGENT, STRANGER):
        with pytest.raises(AuthorityError):
            registry.pin("x", by=by)
        with pytest.raises(AuthorityError):
            registry.grant(by, by=by, pin=True)
    registry.grant(AGENT.id, by=OWNER, pin=True)
    assert registry.pin("x", by=AGENT).author == AGENT.id
    registry.grant(AGENT, by=OWNER)  # the last grant counts
    with pytest.raises(AuthorityError):
        registry.pin("y", by=AGENT)


def test_a_revoked_author_may_retract_but_not_rewrite(registry: Registry) -> None:
    pin, block = registry.pin("Old.", by=SUPERVISOR), registry.write("Old.", by=SUPERVISOR)
    registry.revoke(SUPERVISOR, by=OWNER)
    for one in (pin, block):
        with pytest.raises(AuthorityError):
            registry.amend(one.id, "New.", by=SUPERVISOR)
    registry.evict(block.id, by=SUPERVISOR)
    registry.evict(pin.id, by=SUPERVISOR, force=True)
    with pytest.raises(RegistryError):
        registry.revoke(SUPERVISOR, by=OWNER)


def test_a_grant_revoked_while_a_block_is_counted_is_gone() -> None:
    def counter(text: str) -> int:
        if "late" in text:
            made.revoke(SUPERVISOR, by=OWNER)
        return len(text)

    made = Registry(OWNER, counter=counter)
    for write in (made.pin, made.write):
        made.grant(SUPERVISOR, by=OWNER, pin=True)
        with pytest.raises(AuthorityError):
            write("late", by=SUPERVISOR)
    made.grant(SUPERVISOR, by=OWNER)
    block = made.write("in time", by=SUPERVISOR)
    with pytest.raises(AuthorityError):
        made.amend(block.id, "late", by=SUPERVISOR)
    assert [block.content for block in made.blocks()] == ["in time"]


def test_a_rollback_is_all_or_nothing(registry: Registry) -> None:
    registry.write("a", by=AGENT, run="r")
    registry.write("b", by=OWNER, run="r")
    before = registry.blocks(), registry.log
    for by in (AGENT, OWNER, STRANGER):
        with pytest.raises(AuthorityError):
            registry.rollback("r", by=by, force=True)
    assert (registry.blocks(), registry.log) == before
    assert registry.rollback("none such", by=AGENT) == ()
    assert registry.rollback(None, by=OWNER) == ()  # type: ignore[arg-type]
    assert (registry.blocks(), registry.log) == before


def test_views_are_immutable_and_no_handle(registry: Registry) -> None:
    pin = registry.named("policy")
    for field in dataclasses.fields(pin):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(pin, field.name, None)
    object.__setattr__(pin, "removable", True)
    object.__setattr__(pin, "author", AGENT.id)
    with pytest.raises(AuthorityError):
        registry.evict(pin.id, by=AGENT, force=True)
    assert not registry.named("policy").removable


# Names and contents


@pytest.mark.parametrize("name", ["policy", "Policy", "ｐｏｌｉｃｙ"])
def test_a_decoy_of_a_name_is_refused(registry: Registry, name: str) -> None:
    for by in (OWNER, AGENT):
        with pytest.raises(DuplicateBlockError, match="policy"):
            registry.write("Anything goes.", by=by, name=name)
    assert registry.named("policy").content == POLICY


@pytest.mark.parametrize("name", ["", " a", "a\n", "two\nlines", "a\u200bb", "a\tb", "x" * 201, 3])
def test_a_name_is_one_visible_line(registry: Registry, name: Any) -> None:
    with pytest.raises(RegistryError):
        registry.write("x", by=OWNER, name=name)


def test_a_name_is_found_as_it_is_written(registry: Registry) -> None:
    with pytest.raises(UnknownBlockError):
        registry.named("POLICY")


def test_derived_names_are_free_ones(registry: Registry) -> None:
    registry.write("x", by=OWNER, name="agent-3")
    assert registry.write("y", by=OWNER).name != "agent-3"
    assert len({block.name for block in registry.blocks()}) == 3


def test_special_tokens_are_text_and_the_budget_is_of_the_final_string(registry: Registry) -> None:
    registry.write("<|endoftext|> <|im_start|>", by=AGENT)
    found = registry.compile(100)
    assert tokens.count(found.prompt) == found.tokens <= 100


@pytest.mark.parametrize(
    "wrong",
    [
        {"priority": 101}, {"priority": -1}, {"priority": True}, {"priority": 5.0},
        {"source": "system"}, {"source": None}, {"tags": "one"}, {"tags": [1]},
        {"run": 3}, {"at": -1}, {"at": 1.5}, {"removable": "no"},
    ],
)  # fmt: skip
def test_wrong_fields_are_refused(registry: Registry, wrong: dict[str, Any]) -> None:
    before = registry.blocks()
    with pytest.raises(RegistryError):
        registry.write("x", by=OWNER, **wrong)
    assert registry.blocks() == before


@pytest.mark.parametrize("budget", [-1, True, 5.0, "9"])
def test_wrong_budgets_are_refused(registry: Registry, budget: Any) -> None:
    registry.compile(1000)
    for call in (registry.compile, registry.dry_run):
        with pytest.raises(RegistryError):
            call(budget)


def test_unknown_blocks(registry: Registry) -> None:
    calls: list[Callable[[Any], object]] = [
        registry.get,
        lambda one: registry.evict(one, by=OWNER),
        lambda one: registry.amend(one, "x", by=OWNER),
        lambda one: registry.promote([one], by=OWNER),
    ]
    for call in calls:
        with pytest.raises(UnknownBlockError):
            call(uuid4())
        with pytest.raises(RegistryError):
            call("policy")


def test_a_counter_that_does_not_count(registry: Registry) -> None:
    for wrong in (-1, 1.5, None):
        odd = Registry(OWNER, counter=lambda text, wrong=wrong: wrong)  # type: ignore[misc]
        with pytest.raises(RegistryError):
            odd.write("x", by=OWNER)
        assert odd.blocks() == ()


@pytest.mark.parametrize(
    "counter",
    [lambda text: 3 + len(text) // 3, lambda text: len(text) ** 2 // 100, lambda text: len(text)],
)
def test_the_budget_holds_whatever_the_counter(counter: Callable[[str], int]) -> None:
    made = Registry(OWNER, counter=counter)
    made.pin("Stay.", by=OWNER)
    for number in range(12):
        made.write("x" * (number * 5 % 23), by=OWNER)
    for budget in range(counter(made.pinned_text()), 200):
        found = made.compile(budget)
        assert counter(found.prompt) == found.tokens <= budget
        assert made.verify(found.prompt).held


# Order


def test_a_group_keeps_its_order_wherever_it_goes(registry: Registry) -> None:
    ids = [registry.write(letter, by=AGENT, name=letter).id for letter in "abcdef"]
    registry.promote([ids[4], ids[1]], 2, by=AGENT)
    assert registry.compile().names[1:] == ("a", "c", "e", "b", "d", "f")
    registry.promote(ids[5], by=AGENT)
    registry.promote(ids[0], 99, by=AGENT)
    assert registry.compile().names[1:] == ("f", "c", "e", "b", "d", "a")
    for wrong in ([], [ids[0], ids[0]]):
        with pytest.raises(RegistryError):
            registry.promote(wrong, by=AGENT)
    with pytest.raises(AuthorityError):
        registry.promote(ids[0], by=STRANGER)


# Queries without an embedder


def test_a_query_needs_something_to_judge_it_and_a_gate_needs_a_query(registry: Registry) -> None:
    registry.write("x", by=AGENT)
    for call in (lambda: registry.compile(query="q"), lambda: registry.find_relevant("q")):
        with pytest.raises(EmbeddingError, match="embedder"):
            call()
    with pytest.raises(RegistryError, match="query"):
        registry.compile(gate=lambda query, blocks: [True])
    with pytest.raises(RegistryError, match="2 verdicts on 1 blocks"):
        registry.compile(query="q", gate=lambda query, blocks: [True, True])
    assert registry.named("policy").accesses == 0


def test_a_gate_of_the_registry_sees_the_query_and_the_unpinned_blocks() -> None:
    seen: list[tuple[str, tuple[str, ...]]] = []

    def gate(query: str, blocks: Any) -> list[bool]:
        seen.append((query, tuple(block.name for block in blocks)))
        return [block.name == "b" for block in blocks]

    made = Registry(OWNER, gate=gate)
    made.pin(POLICY, by=OWNER, name="policy")
    for name in "ab":
        made.write(name, by=OWNER, name=name)
    assert made.compile(query="q").names == ("policy", "b")
    assert made.compile().names == ("policy", "a", "b")
    assert seen == [("q", ("a", "b"))]


def test_a_callable_that_calls_the_registry_or_fails_leaves_it_whole(registry: Registry) -> None:
    def gate(query: str, blocks: Any) -> list[bool]:
        registry.write("Written by the gate.", by=AGENT)
        return [True] * len(blocks)

    found = registry.compile(query="q", gate=gate)
    assert found.names == ("policy",)
    assert found.revision == registry.revision - 1
    assert registry.blocks()[1].accesses == 0
    with pytest.raises(ZeroDivisionError):
        registry.compile(query="q", gate=lambda query, blocks: [bool(1 // 0)])
    assert registry.named("policy").accesses == 1


def test_the_text_of_a_registry_names_no_content(registry: Registry) -> None:
    assert POLICY not in repr(registry)
    assert registry.label in repr(registry)


def test_nobody_is_handed_the_store_of_another_registry() -> None:
    registry, stranger = Registry(OWNER), Registry(STRANGER)
    registry.pin(POLICY, by=OWNER, name="policy")
    stranger.grant(OWNER, by=STRANGER)
    stranger.write("A lesson.", by=OWNER, name="lesson")
    assert [line.name for line in registry.provenance().elsewhere] == ["lesson"]
    lines = [
        line
        for name, one in vars(store).items()
        if inspect.isfunction(one) and not name.startswith("_") and one.__module__ == store.__name__
        for line in one(stranger._store, OWNER.id)
    ]
    assert "policy" in [line.name for line in lines]
    assert all(type(line) is Line for line in lines)
