"""``-T harness=name[:arm][:live]``, and what goes with a framework's own compaction."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator

import pytest

from constraintrot import harnesses
from constraintrot.errors import ParameterError
from constraintrot.evaluation.parameters import read
from constraintrot.harnesses import HARNESSES, Needs, Played, Registered


@pytest.fixture(autouse=True)
def framework(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A harness of a framework with two arms."""

    async def play(*_: object) -> Played:
        raise NotImplementedError

    made = Registered(
        lambda arm, live: play,
        harnesses.FRAMEWORK_HOOKS,
        ("usual", "roomy"),
        (Needs("pytest", "1", "1000"),),
        "some-extra",
    )
    HARNESSES.names()
    monkeypatch.setitem(HARNESSES._found, "some", made)
    harnesses._version.cache_clear()
    yield
    harnesses._version.cache_clear()


@pytest.mark.parametrize(
    ("text", "arm", "live", "canonical"),
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
    text: str, arm: str, live: bool, canonical: str
) -> None:
    chosen = harnesses.read(text)
    assert (chosen.arm, chosen.live, str(chosen)) == (arm, live, canonical)
    assert harnesses.read(str(chosen)) == chosen
    assert read({"harness": text}).harness == canonical


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("some:none", r"harness some has no arm 'none'; arms: usual, roomy, live"),
        ("some:live:roomy", "arms: usual, roomy, live"),
        ("some:", "has no arm ''"),
        ("replay:live", "it has no arms"),
        ("replay:usual", "it has no arms"),
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
    assert read({"harness": "some", "compactor": "summarize"}).harness == "some"


def test_nothing_is_edited_inside_a_frameworks_call() -> None:
    with pytest.raises(ParameterError, match="use harness=replay"):
        read({"harness": "some", "conditions": "compaction,summary_removed"})


def test_a_defense_that_wraps_a_compactor_has_no_place_but_its_drop_in_has() -> None:
    with pytest.raises(ParameterError, match=r"head_retain needs wrap.*supported there: .*pin,"):
        read({"harness": "some", "defense": "head_retain"})
    for defense in ("none", "pin", "pin_provenance", "spotlight"):
        assert read({"harness": "some", "defense": defense}).defense == defense


def test_what_is_not_installed_is_answered_with_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def absent(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(harnesses, "version", absent)
    with pytest.raises(ParameterError, match=r"pip install 'constraintrot\[some-extra\]'"):
        read({"harness": "some"})


@pytest.mark.parametrize("there", ["0.9", "1000", "1000.1"])
def test_a_version_that_nobody_tested_is_said(monkeypatch: pytest.MonkeyPatch, there: str) -> None:
    monkeypatch.setattr(harnesses, "version", lambda name: there)
    with pytest.warns(UserWarning, match="tested with pytest from 1 to below 1000"):
        read({"harness": "some"})


def test_only_a_harness_with_arms_compacts_by_itself() -> None:
    assert HARNESSES.get("some").own
    assert not HARNESSES.get("replay").own
