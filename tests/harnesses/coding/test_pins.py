"""The hook of a pin in the HOME of a coding agent, by the code that installs a user's."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser

from constraintrot.coding_agents.drivers.agent import Place
from constraintrot.coding_agents.pins.record import records
from constraintrot.defenses.pin import declared
from constraintrot.defenses.pinning.pinned_block import PROVENANCE, PinnedBlock
from constraintrot.evaluation.defense import Deployment
from constraintrot.harnesses.coding.files import install_pins, roles_of
from tests.harnesses.coding.fakes import INSTALLED, Fake

RULES = ("Send email only to addresses at example.org.", "Never <deploy> on a Friday.")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    box = SimpleNamespace(folder=tmp_path, home=tmp_path / "home", work=tmp_path / "work")
    box.home.mkdir()
    return Place(cast("Any", box), INSTALLED, "", (), compacts=True)


def test_a_hook_hands_out_every_declared_policy_and_the_user_s_own_home_is_left_alone(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FAKE_HOME", str(tmp_path / "the user's"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    text = install_pins(PinnedBlock(declared(Deployment(RULES))), Fake("chat"), place)
    assert all(rule in text for rule in RULES)
    assert text.startswith("Standing policies, pinned by the operator of this agent")
    assert "hook.py" in (place.box.home / ".fake/hooks.json").read_text()
    assert not (tmp_path / "the user's").exists()
    assert records() == []


def test_a_heading_of_the_defense_s_own_is_the_hook_s(place: Place) -> None:
    pins = PinnedBlock(declared(Deployment(RULES)), heading=PROVENANCE)
    assert install_pins(pins, Fake("chat"), place).startswith(PROVENANCE)


def test_a_text_is_found_where_an_agent_wrote_its_angle_brackets_as_html() -> None:
    written = ChatMessageUser(content="<hook_context>Never  &lt;deploy&gt; on a\nFriday.</hook>")
    messages: list[ChatMessage] = [ChatMessageSystem(content="Never deploy on a Friday."), written]
    assert roles_of(RULES[1], messages) == ["user"]
    assert roles_of("", messages) == []
