"""The rewriter's question can be read again, and gives it nothing to hand back as notes."""

from __future__ import annotations

import pytest

from constraintrot.memory.playbook import prompts


@pytest.mark.parametrize("words", [None, 200])
@pytest.mark.parametrize(
    "notes",
    ["One line.", "Two\n\nlines.", "Notes:\nof notes", "Answer with the new notes: no.", "{notes}"],
)
def test_the_notes_are_read_as_they_were_written(notes: str, words: int | None) -> None:
    assert prompts.notes_in(prompts.rewrite(notes, words)) == notes


@pytest.mark.parametrize("words", [None, 200])
def test_without_notes_there_is_no_place_for_them(words: int | None) -> None:
    """A small model copied a placeholder, which became its notes."""
    question = prompts.rewrite("", words)
    assert prompts.notes_in(question) == ""
    assert "Notes:" not in question
    assert "notes so far" not in question
    assert not question.endswith(")")
    assert question.startswith(prompts.REWRITER)
    assert ("200 words" in question) == (words is not None)


@pytest.mark.parametrize(
    "playbook", ["", "## Email\n- [ema-00001] helpful=0 harmful=0 :: Be brief.\n"]
)
def test_no_form_can_be_given_back_as_an_answer(playbook: str) -> None:
    """A small model copied the form: its insights were "...", and each edit named every kind."""
    asked = [prompts.reflect(playbook, ""), prompts.curate(playbook, [{"text": "Attach a PDF."}])]
    for question in asked:
        assert '"..."' not in question
        assert "fact|" not in question
        assert prompts.playbook_in(question) == playbook.rstrip()
    assert [("empty" in question, "DELETE" in question) for question in asked] == (
        [(False, False), (False, True)] if playbook else [(False, False), (True, False)]
    )
