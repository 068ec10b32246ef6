"""Labels follow from the lists that clauses are drawn from, and no scenario family is trained on."""

import re
from collections import Counter
from pathlib import Path

import pytest

from results.tools import rule_reader
from results.tools.rule_reader import written
from results.tools.rule_reader.generator import (
    LABELS,
    LOCALES,
    Example,
    Split,
    digest,
    examples,
    of_split,
    rules,
    texts,
    to_line,
)
from tests.results.rule_judge.test_generator import FAMILY_WORDS

SPLITS: tuple[Split, ...] = ("train", "held_out")
MADE: dict[Split, list[Example]] = {
    "train": examples("train", 1, 440),
    "held_out": examples("held_out", 2000, 120),
}
STATES = ("restated", "weakened", "lifted", "scoped", "attributed", "partial", "deeds", "lost")


def test_equal_arguments_give_equal_bytes_and_another_seed_gives_others() -> None:
    assert digest(examples("train", 1, 440)) == digest(MADE["train"])
    assert digest(examples("train", 2, 440)) != digest(MADE["train"])


def test_every_state_both_tasks_and_every_language_occur() -> None:
    for split in SPLITS:
        labels = Counter(one.label for example in MADE[split] for one in example.questions)
        assert min(labels[state] for state in STATES) > 15
        assert set(labels) == {*STATES, "standing", "other"} == set(LABELS)
        assert {example.locale for example in MADE[split]} == set(LOCALES)
    state = [one for e in MADE["train"] if e.task == "state" for one in e.questions]
    assert 0.25 < sum(one.label == "restated" for one in state) / len(state) < 0.5


@pytest.mark.parametrize("locale", LOCALES)
def test_no_rule_of_one_split_is_in_the_other(locale: str) -> None:
    train, held_out = rules(locale, "train"), rules(locale, "held_out")
    assert train
    assert held_out
    assert not train.keys() & held_out.keys()
    for split, known in (("train", train), ("held_out", held_out)):
        used = {one.kind for e in MADE[split] if e.locale == locale for one in e.questions}  # type: ignore[index]  # a split's name
        assert used - {""} <= known.keys()


@pytest.mark.parametrize("locale", LOCALES)
def test_the_splits_share_no_template_of_a_longer_list(locale: str) -> None:
    for lists in texts(locale).values():
        for some in lists.values() if isinstance(lists, dict) else ():
            if len(some) >= 5:
                assert not set(of_split(some, "train")) & set(of_split(some, "held_out"))
                assert set(of_split(some, "train")) | set(of_split(some, "held_out")) == set(some)


@pytest.mark.parametrize("locale", LOCALES)
def test_each_form_of_rule_has_a_list_for_each_state(locale: str) -> None:
    told = texts(locale)
    for split in SPLITS:
        for rule in rules(locale, split).values():
            for key in ("said", "standing", "other", *STATES):
                assert told[key].get(rule["form"]) or told[key]["any"], (locale, key)


def test_what_is_asked_stands_in_the_message_and_nothing_is_left_unfilled() -> None:
    for example in [*MADE["train"], *MADE["held_out"]]:
        assert not re.search(r"\{[A-Za-z]+\}", example.text)
        for one in example.questions:
            assert "{" not in one.asked
            if example.task == "standing":
                assert one.asked in example.text


def test_a_rule_of_which_nothing_is_said_is_lost() -> None:
    absent = 0
    for example in MADE["train"]:
        for one in example.questions:
            about = rules(example.locale, "train").get(one.kind, {}).get("about", "")
            if example.task == "state" and one.asked not in example.text and one.label == "lost":
                absent += about not in example.text
    assert absent > 50


def test_the_rule_s_own_words_stand_in_texts_that_keep_it_and_in_texts_that_do_not() -> None:
    own = Counter(
        one.label
        for example in MADE["train"]
        for one in example.questions
        if example.task == "state" and one.asked in example.text
    )
    assert own["restated"] > 30
    assert own["lifted"] > 5


@pytest.mark.parametrize("family", FAMILY_WORDS)
def test_no_family_of_the_scenarios_is_trained_on(family: str) -> None:
    folder = Path(rule_reader.__path__[0])
    files = [*folder.glob("rules/*.yaml"), *folder.glob("texts.*.yaml"), *written.FOLDER.glob("*")]
    assert len(files) == 17
    for file in files:
        # "suspended" has nothing to do with spending.
        text = file.read_text(encoding="utf-8").replace("suspended", "")
        match = re.search(FAMILY_WORDS[family], text, re.IGNORECASE)
        assert not match, (file.name, match)


def test_a_line_is_json() -> None:
    assert to_line(MADE["train"][0]).startswith('{"task": "')
