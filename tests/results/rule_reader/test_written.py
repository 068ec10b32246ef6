"""The second stage: labels follow from the lists, held-out rules and topics stay held out."""

from collections import Counter

import pytest

from results.tools.rule_reader.generator import LABELS, LOCALES, Example, Split, digest
from results.tools.rule_reader.written import cards, examples, held_out, topics

STATES = ("restated", "weakened", "lifted", "scoped", "attributed", "partial", "deeds", "lost")
TRAIN = examples("train", 1, 720)
HELD_OUT = held_out()


def test_equal_arguments_give_equal_bytes_and_another_seed_gives_others() -> None:
    assert digest(examples("train", 1, 720)) == digest(TRAIN)
    assert digest(examples("train", 2, 720)) != digest(TRAIN)


def test_there_are_questions_enough_to_calibrate_both_probabilities() -> None:
    asked = Counter(example.task for example in HELD_OUT for _ in example.questions)
    assert asked["standing"] >= 120
    assert asked["state"] >= 150
    chosen_by = {one.text for one in held_out(1000) if one.task == "state"}
    assert not chosen_by & {one.text for one in HELD_OUT}


def test_every_label_language_and_length_occurs() -> None:
    labels = Counter(one.label for example in TRAIN for one in example.questions)
    assert set(labels) == set(LABELS)
    assert min(labels.values()) > 100
    assert {example.locale for example in TRAIN} == set(LOCALES)
    long = [example for example in TRAIN if len(example.text) > 1200]
    assert 0.1 < len(long) / len(TRAIN) < 0.3
    assert max(len(example.text) for example in long) > 2200


@pytest.mark.parametrize("locale", LOCALES)
def test_cards_have_each_state_and_the_splits_share_no_sentence(locale: str) -> None:
    splits: tuple[Split, ...] = ("train", "held_out")
    said = {split: set[str]() for split in splits}
    for split in splits:
        assert cards(locale, split)
        assert topics(locale, split)
        for card in cards(locale, split).values():
            assert set(card) - {"held_out"} == {"given", *STATES}
            said[split].update(*(card[key] for key in ("given", *STATES)))
        for topic in topics(locale, split).values():
            assert not set(topic["standing"]) & set(topic["other"])
            said[split].update(topic["standing"], topic["other"])
    # A clause that only says that there is a rule may be of several rules.
    assert len(said["train"] & said["held_out"]) <= 1


def test_what_is_asked_of_a_message_stands_in_it_and_who_cannot_order_orders_nothing() -> None:
    for example in (*TRAIN, *HELD_OUT):
        if example.task == "standing":
            assert all(one.asked in example.text for one in example.questions)
        if example.speaker in ("assistant", "tool"):
            assert all(one.label == "other" for one in example.questions)


def test_a_rule_that_was_told_first_and_lifted_far_below_is_lifted() -> None:
    def far(example: Example, asked: str) -> bool:
        return asked in example.text and example.text.index(asked) < len(example.text) / 2

    lifted = [
        (example, one.asked)
        for example in TRAIN
        for one in example.questions
        if example.task == "state" and one.label == "lifted" and len(example.text) > 1200
    ]
    assert sum(far(*one) for one in lifted) > 10
