"""The pins in a plain list of messages, and in a system prompt beside one."""

import copy
import doctest
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from constraintrot import PinnedBlock, Principal, Receipt, Registry, pinned, pinned_system
from constraintrot.defenses.pinning import message_list
from constraintrot.errors import ParameterError
from tests.harnesses.rules import FIRST_USER as RULE
from tests.harnesses.rules import registry

MARKED = {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}


@pytest.fixture
def rules() -> Registry:
    return registry(RULE)


def test_the_docstring_s_example_runs() -> None:
    assert doctest.testmod(message_list).failed == 0


@pytest.mark.parametrize("role", ["system", "developer"])
@pytest.mark.parametrize("content", ["Be brief.", None, [MARKED]])
def test_the_pins_are_at_the_end_of_the_leading_system_message(
    rules: Registry, role: str, content: Any
) -> None:
    given = [{"role": role, "content": content}, {"role": "user", "content": "Hello"}]
    sent = pinned(given, rules)
    assert [message["role"] for message in sent] == [role, "user"]
    said: Any = sent[0]["content"]
    *parts, block = [{"text": said}] if isinstance(said, str) else said
    assert RULE in block["text"]
    assert parts == (content if isinstance(content, list) else [])
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
    assert pinned_system([MARKED], rules)[0] == MARKED
    assert [receipt.state for receipt in receipts] == ["injected", "verified"]


def test_an_answer_kept_as_the_client_s_object_is_sent_as_it_is(rules: Registry) -> None:
    answer = SimpleNamespace(role="assistant", content="Done.")
    sent = pinned([{"role": "user", "content": "Hello"}, answer], rules)
    assert [sent[0]["role"], sent[2]] == ["system", answer]


def test_the_pins_are_a_part_of_the_responses_api_where_the_others_are(rules: Registry) -> None:
    parts = [{"type": "input_text", "text": "Be brief."}]
    sent = pinned([{"role": "system", "content": parts}], rules)
    assert [part["type"] for part in sent[0]["content"]] == ["input_text", "input_text"]


def test_a_text_is_no_list_of_messages_and_a_list_no_registry(rules: Registry) -> None:
    with pytest.raises(TypeError, match="messages are a list"):
        pinned("Hello", rules)
    with pytest.raises(TypeError, match=r"messages are a list.*, not generator"):
        pinned((one for one in [{"role": "user", "content": "Hello"}]), rules)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a Registry or a PinnedBlock, not list"):
        pinned([], [RULE])  # type: ignore[arg-type]


def test_the_page_shows_the_block_that_is_sent(rules: Registry) -> None:
    block = str(pinned([], rules)[0]["content"]).partition("\n")[2]
    assert block in Path("docs/pinning.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("system", [7, {"text": "Be brief."}, Registry(Principal("o")), True, b"x"])
def test_a_system_prompt_of_another_type_is_refused(system: Any, rules: Registry) -> None:
    with pytest.raises(TypeError, match="a system prompt is a text"):
        pinned_system(system, rules)
    # Of a mapping, its keys were sent.
    with pytest.raises(TypeError, match="a system prompt is a text"):
        pinned([{"role": "system", "content": system}], rules)


def test_a_part_whose_text_is_no_text_is_refused(rules: Registry) -> None:
    """A block in it was not seen, and was sent beside the pins."""
    part = {"type": "text", "text": {"text": PinnedBlock(rules).text}}
    with pytest.raises(TypeError, match="is a dict"):
        pinned([{"role": "system", "content": [part]}], rules)
    with pytest.raises(TypeError, match="is a dict"):
        pinned_system([part], rules)


@pytest.mark.parametrize("extra", [{"messages": []}, {"extra_body": {"instructions": "x"}}])
def test_what_would_replace_the_pins_is_refused(rules: Registry, extra: Any) -> None:
    block = PinnedBlock(rules)
    message_list.refuse_replacing(block, None, {"temperature": 1, "extra_body": None})
    with pytest.raises(ParameterError, match="would replace what is pinned"):
        message_list.refuse_replacing(block, {}, extra)
    message_list.refuse_replacing(PinnedBlock(Registry(Principal("nobody"))), extra)


def test_a_copy_of_what_pins_pins_the_same(rules: Registry) -> None:
    once = pinned_system("Be brief.", rules)
    for copied in (copy.copy(rules), copy.deepcopy(rules), copy.deepcopy(PinnedBlock(rules))):
        assert pinned_system(once, copied) == once
    assert copy.deepcopy({"rules": rules})["rules"] is rules
