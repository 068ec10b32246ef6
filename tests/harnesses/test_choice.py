"""``-T harness=name[:mode][:live]``, and what goes with a framework's own compaction."""

import importlib.metadata
from collections.abc import Iterator

import pytest

from constraintrot.defenses import DEFENSES, Defense, DefenseSpec
from constraintrot.errors import ParameterError
from constraintrot.evaluation import harness as contract
from constraintrot.evaluation.harness import parse_harness
from constraintrot.evaluation.parameters import read
from constraintrot.harnesses import FRAMEWORK_HOOKS, HARNESSES, HarnessSpec, Needs, Played
from tests.helpers import register


@pytest.fixture(autouse=True)
def framework(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A harness of a framework with two compaction modes."""

    async def play(*_: object) -> Played:
        raise NotImplementedError

    made = HarnessSpec(
        lambda mode, live: play,
        FRAMEWORK_HOOKS,
        ("usual", "roomy"),
        (Needs("pytest", "1", "1000"),),
        "some-extra",
    )
    register(monkeypatch, HARNESSES, "some", made)
    contract._version.cache_clear()
    yield
    contract._version.cache_clear()


@pytest.mark.parametrize(
    ("text", "mode", "live", "canonical"),
    [
        ("some", "usual", False, "some"),
        ("some:usual", "usual", False, "some"),
        ("some:roomy", "roomy", False, "some:roomy"),
        ("some:live", "usual", True, "some:live"),
        ("some:roomy:live", "roomy", True, "some:roomy:live"),
        (" some : roomy ", "roomy", False, "some:roomy"),
        ("replay", "", False, "replay"),
    ],
)
def test_a_harness_reads_back_as_it_is_written(
    text: str, mode: str, live: bool, canonical: str
) -> None:
    chosen = parse_harness(text)
    assert (chosen.mode, chosen.live, str(chosen)) == (mode, live, canonical)
    assert parse_harness(str(chosen)) == chosen
    assert str(read({"harness": text}).harness) == canonical


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("some:none", r"harness some has no compaction mode 'none'; modes: usual, roomy, live"),
        ("some:live:roomy", "modes: usual, roomy, live"),
        ("some:", "has no compaction mode ''"),
        ("replay:live", "it has none"),
        ("replay:usual", "it has none"),
        ("other", "unknown harness 'other'; known: .*replay"),
        (":", "unknown harness ':'"),
    ],
)
def test_a_wrong_harness_says_what_there_is(text: str, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        read({"harness": text})


@pytest.mark.parametrize(
    "given",
    [
        {"compactor": "truncate"},
        {"prompt": "tight"},
        {"budget_words": 30},
        {"compact_at": 200},
        {"rounds": 2},
    ],
    ids=str,
)
def test_how_a_framework_compacts_is_not_the_tasks_to_say(given: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match=f"so {next(iter(given))} cannot be given"):
        read({"harness": "some", **given})
    assert read({"harness": "some", "compactor": "summarize"}).harness.name == "some"


def test_nothing_is_edited_inside_a_frameworks_call() -> None:
    with pytest.raises(ParameterError, match="use harness=replay"):
        read({"harness": "some", "conditions": "compaction,summary_removed"})


def test_a_defense_that_wraps_a_compactor_has_no_place_but_its_framework_pins_have() -> None:
    with pytest.raises(ParameterError, match=r"head_retain needs wrap.*supported there: .*pin,"):
        read({"harness": "some", "defense": "head_retain"})
    for defense in ("none", "pin", "pin_provenance", "spotlight"):
        assert read({"harness": "some", "defense": defense}).plays[0].defense.name == defense


def test_what_is_not_installed_is_answered_with_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def absent(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(contract, "version", absent)
    with pytest.raises(ParameterError, match=r"pip install 'constraintrot\[some-extra\]'"):
        read({"harness": "some"})


@pytest.mark.parametrize("there", ["0.9", "1000", "1000.1"])
def test_a_version_that_nobody_tested_is_said(monkeypatch: pytest.MonkeyPatch, there: str) -> None:
    monkeypatch.setattr(contract, "version", lambda name: there)
    with pytest.warns(UserWarning, match="tested with pytest from 1 to below 1000"):
        read({"harness": "some"})


def test_only_a_harness_with_modes_compacts_by_itself() -> None:
    assert HARNESSES.get("some").compacts_itself
    assert not HARNESSES.get("replay").compacts_itself


@pytest.mark.parametrize("supplies", [True, False])
def test_a_defense_of_others_supplies_its_framework_pins_or_is_refused(
    monkeypatch: pytest.MonkeyPatch, supplies: bool
) -> None:
    class Wraps(Defense):
        def framework_pins(self) -> object | None:
            return object() if supplies else None

    spec = DefenseSpec(lambda _: Wraps(), frozenset({"wrap"}), False, framework_pins=True)
    register(monkeypatch, DEFENSES, "theirs", spec)
    # Where the compactor can be wrapped, the pins are not asked for.
    assert read({"defense": "theirs"}).plays[0].defense.name == "theirs"
    if supplies:
        assert read({"harness": "some", "defense": "theirs"}).plays[0].defense.name == "theirs"
        return
    with pytest.raises(ParameterError, match="theirs is registered with framework_pins=True and"):
        read({"harness": "some", "defense": "theirs"})
