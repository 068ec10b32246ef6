"""Bullets that say the same become one, by either measure; the rewriter's question can be read again."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from constraintrot.memory.playbook import (
    Add,
    Playbook,
    Refinement,
    Vectors,
    Words,
    opposed,
    prompts,
    similarity,
)
from constraintrot.memory.playbook.refinement import duplicates
from tests.memory.playbook.pairs import CONTRADICTORY, PARAPHRASES


def same_vector(texts: Sequence[str]) -> NDArray[np.float32]:
    return np.tile(np.array([1, 0], np.float32), (len(texts), 1))


@pytest.mark.parametrize("pair", CONTRADICTORY, ids=lambda pair: pair[0][:20])
def test_a_contradiction_is_seen_even_where_a_measure_sees_none(pair: tuple[str, str]) -> None:
    assert opposed(*pair)
    assert opposed(*reversed(pair))
    playbook = Playbook(similarity=Vectors(same_vector, "same"))
    for text in pair:
        playbook.apply([Add(text=text)])
    assert len(playbook.bullets) == 2


def test_an_unprotected_playbook_trusts_the_measure() -> None:
    unprotected = Refinement(protect=False)
    playbook = Playbook(similarity=Vectors(same_vector, "same"), refinement=unprotected)
    playbook.apply([Add(text=text) for pair in CONTRADICTORY for text in pair])
    # Of each kind one is left: two of these do not read as rules.
    assert len(playbook.bullets) == len({one.kind for one in playbook.bullets})


def test_constraints_are_not_even_embedded() -> None:
    seen: list[str] = []

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        seen.extend(texts)
        return same_vector(texts)

    playbook = Playbook(similarity=Vectors(embed, "same"))
    playbook.apply([Add(text="Never open the door."), Add(text="The lift is slow.")])
    playbook.apply([Add(text="The lift takes its time."), Add(text="Always shut the window.")])
    assert seen == ["The lift is slow.", "The lift takes its time."]
    assert len(playbook.bullets) == 3


@pytest.mark.parametrize("few", [0, 20_000])
def test_words_find_what_brute_force_finds(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, "_FEW_PAIRS", few)
    rng = np.random.default_rng(7)
    lexicon = [f"w{at}" for at in range(12)]
    lengths = rng.integers(1, 9, 300)
    texts = list(dict.fromkeys(" ".join(rng.choice(lexicon, length)) for length in lengths))
    # Two that differ in their last word alone are over the highest.
    texts += [f"{' '.join(lexicon)} {word}" for word in lexicon]
    for least in (0.3, 0.5, 0.8):
        found = {(i, j) for i, j, _ in Words().alike(texts, range(20, len(texts)), least)}
        split = [text.split() for text in texts]
        sets = [{*words, *map(" ".join, pairwise(words))} for words in split]
        brute = {
            (i, j)
            for i in range(20, len(texts))
            for j in range(i)
            if len(sets[i] & sets[j]) >= least * len(sets[i] | sets[j])
        }
        assert found == brute
        assert brute


def test_paraphrases_are_no_contradictions_and_words_alone_do_not_join_them() -> None:
    for pair in PARAPHRASES:
        assert not list(Words().alike(pair, (1,), Words.least))
    assert not opposed("The export runs at night.", "The export runs at night now.")


def test_chinese_is_compared_by_characters() -> None:
    texts = (
        "发票在周一的早上由财务部门导出到共享文件夹里",
        "发票在周一的早上由财务部门导出到共享文件夹",
    )
    assert [(i, j) for i, j, _ in Words().alike(texts, (1,), 0.8)] == [(1, 0)]
    assert opposed("客户可以看到价目表", "客户不可以看到价目表")


def test_only_new_bullets_are_compared() -> None:
    playbook = Playbook(refinement=Refinement("never"))
    playbook.apply(
        [Add(text=f"The export of invoices {word} at night.") for word in ("runs", "goes")]
    )
    assert not list(duplicates(playbook.bullets, (), Vectors(same_vector, "same"), Refinement()))


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
