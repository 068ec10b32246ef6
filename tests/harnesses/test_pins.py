"""What holds of the pins in every framework: once in each input, in no history, and up to date."""

import logging
import re

import pytest

from constraintrot.defenses.pinning.pinned_block import HEADING, PinnedBlock, Receipt
from tests.harnesses import (
    agent_framework_fakes,
    autogen_fakes,
    deepagents_fakes,
    google_adk_fakes,
    langchain_fakes,
    langmem_fakes,
    openai_agents_fakes,
)
from tests.harnesses.arms import EVERYTHING, SYSTEM_ONLY
from tests.harnesses.rules import LOSSY, OPERATOR, PINNED, kept, registry

ARMS = {
    "agent_framework": agent_framework_fakes.ARM,
    "autogen": autogen_fakes.ARM,
    "deepagents": deepagents_fakes.ARM,
    "google_adk": google_adk_fakes.ARM,
    "langchain": langchain_fakes.ARM,
    "langmem": langmem_fakes.ARM,
    "openai_agents": openai_agents_fakes.ARM,
}
ROWS = [(name, row) for name, arm in ARMS.items() for row in arm.matrix]


def words(text: str) -> list[str]:
    """The words of a text; the name of a file that deepagents draws is left out."""
    return re.sub(r"session_\w+", "", text).split()


@pytest.mark.parametrize(("framework", "row"), ROWS)
def test_the_matrix_without_pins_and_with_them(framework: str, row: str) -> None:
    arm, rules = ARMS[framework], registry(PINNED)
    expected = arm.matrix[row]
    block = PinnedBlock(rules).text.rstrip("\n")
    plain = arm.play(expected.given, None, streamed=False)
    assert kept(plain.texts[-1]) == expected.kept
    assert any(f"ticket {number}." in plain.texts[-1] for number in (7, 11, 19)) is expected.asked
    assert plain.texts[-1].count(LOSSY) == expected.summaries
    assert kept(plain.shown) == (expected.shown or set())
    for streamed in (False, True)[: 1 + arm.streams]:
        seen = arm.play(expected.given, rules, streamed=streamed)
        assert [text.count(block) for text in seen.texts] == [1] * len(plain.texts)
        assert [text.count(HEADING) for text in seen.texts] == [1] * len(plain.texts)
        # The same bytes come before the pins each time, so that a prefix cache keeps hitting.
        assert len({text[: text.index(block)] for text in seen.texts}) == 1
        # With or without the pins, the same is left of the conversation.
        without = [words(text.replace(block, "")) for text in seen.texts]
        assert without == [words(text) for text in plain.texts]
        assert PINNED not in seen.stored
        assert PINNED not in seen.shown
        if arm.stores_all:
            assert kept(seen.stored) == EVERYTHING - SYSTEM_ONLY


@pytest.mark.parametrize("framework", ARMS)
def test_a_registry_amended_and_emptied_within_a_tool_loop_shows_at_the_next_call(
    framework: str,
) -> None:
    rules = registry(PINNED)
    (block,) = rules.pins()

    def soften() -> str:
        """Soften the rule."""
        rules.amend(block.id, "Never restart a server.", by=OPERATOR)
        return "Softened."

    def drop() -> str:
        """Drop the rule."""
        rules.evict(block.id, by=OPERATOR, force=True)
        return "Dropped."

    first, second, third = ARMS[framework].loop(rules, [soften, drop])
    assert first.count(PINNED) == first.count(HEADING) == 1
    assert second.count("Never restart a server.") == second.count(HEADING) == 1
    assert PINNED not in second
    assert HEADING not in third


@pytest.mark.parametrize("framework", ARMS)
def test_receipts_go_to_the_log(framework: str, caplog: pytest.LogCaptureFixture) -> None:
    rules = registry(PINNED)
    with caplog.at_level(logging.INFO, "constraintrot.pins"):
        ARMS[framework].loop(rules, [])
    (line,) = [one.message for one in caplog.records if one.name == "constraintrot.pins"]
    receipt = Receipt.model_validate_json(line)
    assert (receipt.state, receipt.where) == ("injected", "call")
    assert receipt.manifest == rules.manifest()
