"""Sentences on the same work: which have the force of a rule, and which only its words."""

import pytest

from constraintrot.doctor.context import Presence
from constraintrot.doctor.rules import Rule
from constraintrot.rule_text.said import parted, ruling, said

PUSH = "Never force-push to the release branch."
MIGRATIONS = "Do not edit migrations that are already applied."
PACKAGES = "No new npm dependencies without my approval."
TESTS = "Always run the unit tests before you commit."
DATABASE = "Don't run anything that writes against the production database."


def state(rule: str, text: str) -> str:
    presence = Presence()
    presence.add(Rule("rule", rule))
    return next((one.found.state for one in presence.standing(text)), "lost")


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (PUSH, "Bring the release branch up to date and publish it."),
        (PUSH, "The release branch must be pushed before the demo on Thursday."),
        (PUSH, "The last run could not push the release branch; the token had expired."),
        (PUSH, "I can't push to the release branch, the remote says no. Please look into it."),
        (PUSH, "We need to force-push the release branch by Friday, so keep it in sync with main."),
        (PUSH, "Force-push the release branch once the tests stop failing, at most an hour from now."),
        (PUSH, "No force-pushes to the release branch were made since Monday."),
        (MIGRATIONS, "Edit the applied migrations so that they keep within the limit of the database."),
        (DATABASE, "The script has to write its rows into the production database every night."),
        (DATABASE, "Writing to the production database took up to ten minutes yesterday."),
        (TESTS, "I never ran the unit tests before that commit."),
    ],
)  # fmt: skip
def test_work_on_the_same_things_restates_no_rule(rule: str, text: str) -> None:
    assert state(rule, text) == "lost"


def test_rule_in_other_words_is_left_to_a_reader() -> None:
    assert state(PUSH, "The user does not want the release branch force-pushed.") == "lost"
    assert state(PUSH, "> **Never** force-push\n to the release branch!") == "verbatim"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("No forced pushes to release, ever.", "restated"),
        ("The release is on Thursday. The demo went well. It rained. Nobody pushed.", "lost"),
        ("The release is on Thursday.", "lost"),
    ],
)
def test_declared_slots_state_a_rule_where_they_stand_together(text: str, wanted: str) -> None:
    presence = Presence()
    presence.add(Rule("rule", PUSH, {"action": ["forced pushes", "pushed"], "branch": ["release"]}))
    assert next((one.found.state for one in presence.standing(text)), "lost") == wanted


LONGER = (
    "Two things before you start. Never force-push to main; the release manager has to be able to"
    " bisect. The staging host is back. Then look at why the importer drops its last row."
)


def test_rule_within_a_longer_message_is_taken_without_its_reason() -> None:
    (rule,) = said(LONGER)
    assert rule == "Never force-push to main; the release manager has to be able to bisect."
    assert "bisect" not in Rule("rule", rule).ruling
    assert state(rule, "Never force-push to main.") == "verbatim"
    assert state("Never force-push to main.", LONGER) == "verbatim"
    assert state("Never force-push to main.", "Never force-push to maintenance hosts.") == "lost"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Never force-push to main; if you have to, ask me first.", "Never force-push to main"),
        ("Do not edit src/gen (it is written by the build), please.", "Do not edit src/gen, please"),
        ("A word on how we work first: always squash, because the log is read.",
         "A word on how we work first: always squash"),
        ("Before you start: never touch the vendor folder.", "never touch the vendor folder"),
        ("Orders above 150 euros need approval; above 500 euros ask Lena too.",
         "Orders above 150 euros need approval. above 500 euros ask Lena too"),
        ("Squash", "Squash"),
    ],
)  # fmt: skip
def test_ruling_clauses(text: str, wanted: str) -> None:
    assert ruling(text) == wanted


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("Never force-push to main, and do not add packages.",
         ["Never force-push to main", "do not add packages."]),
        ("Never push to main; always open a pull request; never merge your own work.",
         ["Never push to main", "always open a pull request", "never merge your own work."]),
        ("You may read the cache, but never write to it.",
         ["You may read the cache, but never write to it."]),
    ],
)  # fmt: skip
def test_rules_that_one_sentence_joins(text: str, rules: list[str]) -> None:
    assert parted(text) == rules


@pytest.mark.parametrize(
    "text",
    [
        "Bring the branch up to date and publish it.",
        "The npm dependencies have to be brought up to date.",
    ],
)
def test_request_is_no_rule(text: str) -> None:
    assert list(said(text)) == []


def test_a_text_longer_than_a_rule_is_not_parted() -> None:
    long = "Never push to main" + ", and never push to it" * 100
    assert parted(long) == [long]
