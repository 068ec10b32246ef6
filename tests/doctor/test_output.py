"""The files and the screen; pins that the registry reads; secrets that are masked."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from constraintrot.defenses.rampart.seeds import read as read_seeds
from constraintrot.doctor.findings import Diagnosis
from constraintrot.doctor.masking import MASK, Masker
from constraintrot.doctor.output.data import data
from constraintrot.doctor.output.html import html
from constraintrot.doctor.output.junit import junit
from constraintrot.doctor.output.pins import pins
from constraintrot.doctor.output.pins import write as write_pins
from constraintrot.doctor.output.terminal import summary
from tests.doctor import sessions as made

HANDBOOK = "Policy: email may only be sent to addresses at calder.test."


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[Diagnosis]:
    path = made.write(
        tmp_path_factory.mktemp("s") / "s.jsonl", made.user(1, made.FORCE_PUSH),
        *made.call(2, "mcp__office__handbook", {}, HANDBOOK),
        *made.compacted(3, f"{made.SUMMARY} The release branch was pushed."), made.reply(4, "ok"),
    )  # fmt: skip
    return [made.diagnosed(path)]


def test_summary_fits_a_screen_and_names_the_loss(found: list[Diagnosis]) -> None:
    lines = summary(found * 8, [], str)
    assert (
        "2 of 2 rules did not survive the compaction of 14:03; 1 came by your turn, 1 came by MCP"
        in lines
    )
    assert any(made.FORCE_PUSH in line for line in lines)
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 100


def test_summary_without_losses_says_why() -> None:
    assert "no session was read" in "\n".join(summary([], [], str))


def test_page_shows_before_and_after(found: list[Diagnosis]) -> None:
    pytest.importorskip("jinja2")
    page = html(data(found, [], str))
    assert "<del>" in page
    assert "<ins>" in page
    assert "the nearest that the new context says" in page


def test_junit_fails_for_each_loss(found: list[Diagnosis]) -> None:
    root = ElementTree.fromstring(junit(data(found, [], str)).encode())
    (suite,) = root
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")
    assert {one.get("type") for one in suite.iter("failure")} == {"lost"}


def test_pins_read_as_seeds_and_leave_out_what_tools_brought(
    found: list[Diagnosis], tmp_path: Path
) -> None:
    chosen = pins(found, str)
    assert chosen.left_out == [HANDBOOK]
    path = write_pins(chosen, tmp_path / "pins")
    assert path is not None
    assert [(one.content, one.priority) for one in read_seeds(path)] == [(made.FORCE_PUSH, 80)]
    assert set(pins(found, str, from_tools=True).rules.values()) == {made.FORCE_PUSH, HANDBOOK}


def test_nothing_to_pin_writes_nothing(tmp_path: Path) -> None:
    assert write_pins(pins([], str), tmp_path / "pins") is None
    assert not (tmp_path / "pins").exists()


@pytest.mark.parametrize(
    "secret",
    ["AKIAIOSFODNN7EXAMPLE", "sk-abcdefghijklmnop1234", "ghp_0123456789abcdefghij0123",
     "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.c2lnbmF0dXJl"],
)  # fmt: skip
def test_tokens_are_masked_without_the_library(
    secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mask = Masker()
    monkeypatch.setattr(mask, "library", False)
    assert mask(f"use {secret} here") == f"use {MASK} here"
    assert mask("Session tokens may never be written to logs.").startswith("Session tokens may")
    assert mask.masked == 1


def test_named_values_are_masked() -> None:
    assert Masker()('password: "hunter2hunter2"') == f'password: "{MASK}"'
    assert Masker()("https://sam:hunter22@git.example/x") == f"https://{MASK}@git.example/x"


def test_library_masks_what_has_no_known_form() -> None:
    pytest.importorskip("detect_secrets", reason="constraintrot[doctor] is not installed")
    mask = Masker()
    assert MASK in mask('"aGVsbG8gd29ybGQgdGhpcyBpcyBhIHNlY3JldA9x7"')
    assert mask(made.FORCE_PUSH) == made.FORCE_PUSH
