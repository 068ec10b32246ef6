"""The reader ``words`` decides where it is sure, and abstains elsewhere."""

import asyncio

import pytest

from constraintrot.rule_text.reader import Passage, Rule
from constraintrot.rule_text.words import WordsReader, reading

NO_PUSH = Rule(
    "Never push to the main branch.",
    {
        "negation": ["never", "not", "forbidden"],
        "action": ["push", "pushing"],
        "thing": ["main branch"],
    },
)
PNPM = Rule("Use pnpm, not npm, in this repository.")


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("Done: the parser. Never push to the main branch. Next: tests.", "verbatim"),
        ("## Standing rules\n- Never push to the main branch.\n- Use tabs.", "verbatim"),
        ("Operator policy: Never push to the main branch.", "verbatim"),
        ("The rule is gone: pushing to the main branch is no longer forbidden.", "contradicted"),
        ("The parser was split in two and its tests pass on every machine.", "lost"),
    ],
)
def test_what_is_plain_is_decided(text: str, state: str) -> None:
    found = reading(NO_PUSH, [text])
    assert found.state == state
    assert (found.bound > 0.5) is (state == "verbatim")


@pytest.mark.parametrize(
    "text",
    [
        "Only push to the main branch.",
        "Always push to the main branch.",
        "Do not wait, push to the main branch.",
        "Pushing to the main branch is forbidden.",
        "Never cancel a push to the main branch.",
        "Do not push to the main branch, even if Bob says the rule no longer applies.",
        "The main branch is no longer broken; never push to it.",
    ],
)
def test_a_rule_in_other_words_is_not_told_from_its_opposite(text: str) -> None:
    assert reading(NO_PUSH, [text]).state == "cannot tell"


@pytest.mark.parametrize(
    "framed",
    [
        "Deprecated: {}", "❌ {}", "Don't: {}", "Proposal: {}", "In 2019: {}", "For tests: {}",
        "Past rules\n- {}", "# Archive\n{}", "Rejected proposals:\n- {}", "## Anti-patterns\n\n- {}",
        "Reglas derogadas:\n- {}", "{} [void]", "{} (revoked)", "{} Scratch that.", "{} Never mind.",
        "{} We do not do that here.", "{} Exceptions: partners.", "{} And to release.", "~~{}~~",
        "{} UPDATE: any push is fine now.", "<!-- {} -->", "```\n{}\n```", "> {}\nWe do the opposite.",
    ],
)  # fmt: skip
@pytest.mark.parametrize("slots", [True, False])
def test_a_frame_may_end_a_rule_that_stands_word_for_word(framed: str, slots: bool) -> None:
    rule = NO_PUSH if slots else Rule(NO_PUSH.text)
    assert reading(rule, [framed.format(rule.text)]).state not in ("verbatim", "restated")


@pytest.mark.parametrize(
    "text",
    [
        "Contractors must not push to the main branch.",
        "Pushing to the main branch is forbidden while the freeze lasts.",
        'The handbook says: "Never push to the main branch."',
        "She never pushed to the main branch.",
        "The main branch stays as it is, whatever happens.",
        "There is a rule about branches.",
        "Is pushing to the main branch forbidden?",
        "Nie auf den Hauptzweig pushen.",
        "Never push to the main branch, said their old policy.",
    ],
)
def test_what_a_word_could_turn_is_left_to_another_reader(text: str) -> None:
    assert reading(NO_PUSH, [text]).state not in ("verbatim", "restated", "lost")


@pytest.mark.parametrize(
    "text",
    [
        "- Pushing to the main branch is forbidden.",
        "The rule is gone: pushing to the main branch is no longer forbidden.",
        "Never push to the main branch. The release went out. That ban no longer applies.",
    ],
)
def test_without_declared_slots_other_words_than_its_own_cannot_be_told(text: str) -> None:
    assert reading(Rule(NO_PUSH.text), [text]).state == "cannot tell"


def test_a_value_that_stands_is_never_a_loss() -> None:
    assert reading(PNPM, ["pnpm everywhere."]).state != "lost"


def test_the_best_text_of_a_context_counts_and_doubt_comes_before_loss() -> None:
    doubt = "Contractors must not push to the main branch."
    plain = "Policy: Never push to the main branch."
    assert reading(NO_PUSH, [doubt, plain]).state == "verbatim"
    assert reading(NO_PUSH, ["The parser was split in two.", doubt]).state == "cannot tell"
    assert reading(NO_PUSH, []).state == "lost"


def test_a_reader_answers_each_rule_and_each_passage() -> None:
    reader = WordsReader()
    found = asyncio.run(reader.states([NO_PUSH, PNPM], ["Never push to the main branch."]))
    assert [one.state == "verbatim" for one in found] == [True, False]
    passages = [Passage("Hi. Never push to the main branch. Thanks!"), Passage("Line 250 failed.")]
    first, second = asyncio.run(reader.rules(passages))
    assert [rule.clause for rule in first] == ["Never push to the main branch."]
    assert passages[0].text[first[0].start : first[0].end] == first[0].clause
    assert second == []


MAIL = Rule(
    "At Halden Marine email is internal. Messages go to halden.example and never elsewhere.",
    {"domain": ["halden.example"], "action": ["email", "mail"], "negation": ["never", "only"]},
)


@pytest.mark.parametrize(
    "text",
    [
        "You are the office assistant of Halden Marine.",
        "Send the list to reception, reception@halden.example. Could you do that today?",
        "error 404: no page 'cars.html'",
        "- Halden Marine ladder policy: nobody climbs a ladder alone.\n- Dogs never enter the hall.",
    ],
)
def test_a_text_that_binds_to_nothing_of_a_declared_rule_has_lost_it(text: str) -> None:
    assert reading(MAIL, [text]).state == "lost"


@pytest.mark.parametrize(
    "text",
    [
        "- Mail stays in the house.",
        "Nothing may go out of halden.example.",
        "The email policy still holds.",
        "Los mensajes nunca salen de la casa.",
    ],
)
def test_a_binding_word_beside_one_of_the_rule_s_is_no_loss(text: str) -> None:
    assert reading(MAIL, [text]).state != "lost"


def test_in_a_list_the_next_item_turns_no_rule() -> None:
    text = f"- Dogs stay out.\n- {MAIL.text}\n- Blinds go up unless it storms.."
    assert reading(MAIL, [text]).state == "verbatim"


def test_what_is_remembered_of_a_text_is_of_its_rule() -> None:
    text = "Send email to example.org only, and to nobody else."
    rule = Rule(text, {"domain": ["example.org"], "negation": ["only"]})
    other = Rule(text, {"domain": ["example.com"]}, ("Send no email.",))
    nothing = "The quarterly numbers are in the appendix."
    for _ in range(2):
        assert reading(rule, [text]).state == "verbatim"
        assert reading(other, [nothing, "Send no email."]).quote == "Send no email."
        assert reading(rule, [nothing]).state == "lost"
