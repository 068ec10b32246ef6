"""The pins in a plain list of messages, and in a system prompt beside one."""

from __future__ import annotations

import doctest
from typing import Any

import pytest

from constraintrot import PinnedBlock, Principal, Receipt, Registry, pinned, pinned_system
from constraintrot.defenses.pinning import message_list

RULE = "Send email only to addresses at example.org."


@pytest.fixture
def rules() -> Registry:
    operator = Principal("operator")
    registry = Registry(operator)
    registry.pin(RULE, by=operator)
    return registry


def test_the_docstring_s_example_runs() -> None:
    assert doctest.testmod(message_list).failed == 0


@pytest.mark.parametrize("role", ["system", "developer"])
@pytest.mark.parametrize("content", ["Be brief.", None, [{"type": "text", "text": "Be brief."}]])
def test_the_pins_are_at_the_end_of_the_leading_system_message(
    rules: Registry, role: str, content: Any
) -> None:
    given = [{"role": role, "content": content}, {"role": "user", "content": "Hello"}]
    sent = pinned(given, rules)
    assert [message["role"] for message in sent] == [role, "user"]
    said = sent[0]["content"]
    assert RULE in (said if isinstance(said, str) else said[-1]["text"])
    assert given[0]["content"] == content
    assert pinned(sent, rules) == sent


def test_a_list_without_a_system_message_gets_one_and_none_without_pins(rules: Registry) -> None:
    hello = {"role": "user", "content": "Hello"}
    assert [message["role"] for message in pinned([hello], rules)] == ["system", "user"]
    assert pinned([hello], Registry(Principal("operator"))) == [hello]


def test_a_stored_block_is_taken_out_and_a_user_s_copy_stays(rules: Registry) -> None:
    block = PinnedBlock(rules).text
    stored = {"role": "system", "content": block}
    copied = {"role": "user", "content": block}
    sent = pinned([{"role": "system", "content": "Be brief."}, stored, copied], rules)
    assert [message["role"] for message in sent] == ["system", "user"]
    assert sent[1] == copied


def test_a_system_prompt_of_its_own_is_pinned_and_reported(rules: Registry) -> None:
    receipts: list[Receipt] = []
    once = pinned_system("Be brief.", rules, report=receipts.append)
    assert pinned_system(once, rules, report=receipts.append) == once
    assert RULE in str(pinned_system(None, rules))
    parts = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    assert pinned_system(parts, rules)[0] == parts[0]
    assert [receipt.state for receipt in receipts] == ["injected", "verified"]
