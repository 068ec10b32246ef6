"""A judge's form, and how votes are counted."""

import pytest

from constraintrot.rule_text.judge import JUDGE_PROMPT, JUDGED, majority, read_vote


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ('{"state": "weakened", "quote": "if possible"}', "weakened"),
        ('Sure:\n```json\n{"state": "Lost", "quote": ""}\n```', "lost"),
        ('{"state": "verbatim"}', None),
        ('{"quote": "x"}', None),
        ('{"state": "lost"', None),
        ("lost", None),
        ("[1]", None),
        ("", None),
    ],
)
def test_only_the_form_is_read(text: str, state: str | None) -> None:
    assert read_vote(text) == state


def test_more_than_half_of_all_decide() -> None:
    assert majority(["lost", "lost", None]) == "lost"
    assert majority(["lost", "restated"]) is None
    assert majority(["lost", None]) is None
    assert majority(["lost", None, None]) is None
    assert majority([None]) is None
    assert majority(["partial"]) == "partial"
    assert majority([]) is None


def test_the_prompt_names_every_state_and_the_form() -> None:
    prompt = JUDGE_PROMPT.format(policy="A rule.", context="A text.")
    assert all(f"\n{state}: " in prompt for state in JUDGED)
    assert '{"state": "..."' in prompt
