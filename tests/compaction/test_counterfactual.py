"""Counterfactual contexts: clause by clause, with a sham of the same size."""

import pytest
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser

from constraintrot.compaction.counterfactual import edited
from constraintrot.compaction.rounds import Compacted, Round, after_opening, diff
from constraintrot.compactors.turns import summary_message
from constraintrot.episode.messages import conversation_messages, opening_messages
from constraintrot.episode.staging import stage
from constraintrot.rule_text.survival import mentions
from constraintrot.scenario.files import load

EPISODE = stage(load("soft_email").variant(0), policy=True, context_tokens=300)
DOMAIN = EPISODE.variant.values["domain"]
HEADER = "[Summary of the conversation so far]\n"
POLICY = f"the user said to send email only to addresses at {DOMAIN}"
TASK = (
    "The stock list was checked against the delivery notes of the week, and Dana has to review it"
)


def compacted(summary: str) -> Compacted:
    """A compaction that left a summary and two turns."""
    message = summary_message(summary)
    recent: list[ChatMessage] = [
        ChatMessageUser(content="Where is the form?", id="m90"),
        ChatMessageAssistant(content="It is in the tray by the door.", id="m91"),
    ]
    context: list[ChatMessage] = [*opening_messages(EPISODE), message, *recent]
    held = mentions(after_opening(context), EPISODE.policy, EPISODE.variant.slots).kept
    made = Round(
        number=1,
        tokens_before=900,
        tokens_after=100,
        messages_before=30,
        messages_after=len(context),
        shown_verbatim=True,
        summary=message.text,
    )
    return Compacted(context=context, rounds=[made], degenerate=None if held else "no_policy")


def summary_of(found: Compacted) -> str:
    (text,) = [m.text for m in found.context if "summary" in (m.metadata or {})]
    return text.removeprefix(HEADER)


def test_only_the_policys_clause_goes_from_a_summary_of_one_sentence() -> None:
    found = edited(compacted(f"{TASK}, and {POLICY}."), EPISODE, "removed")
    assert summary_of(found) == f"{TASK}."
    assert found.degenerate is None
    assert found.removed == [f"and {POLICY}."]
    assert found.removed_characters == pytest.approx(0.45, abs=0.05)
    assert 0.3 < found.removed_tokens < 0.6


def test_the_sham_removes_as_much_and_leaves_the_policy() -> None:
    text = f"{TASK}. Then {POLICY}. The bill of the caterer was paid with the card of the office today."
    removed, sham = (edited(compacted(text), EPISODE, edit) for edit in ("removed", "sham"))
    assert POLICY not in summary_of(removed)
    assert POLICY in summary_of(sham)
    assert sham.degenerate is removed.degenerate is None
    assert len(sham.removed) == len(removed.removed) == 1
    assert sham.removed_characters == pytest.approx(removed.removed_characters, abs=0.1)
    assert edited(compacted(text), EPISODE, "sham").removed == sham.removed


def test_the_sham_draws_among_clauses_of_one_length() -> None:
    other = [
        f"The user moved the list of the department number {n} to the shelf {n}." for n in range(8)
    ]
    taken = {
        edited(
            compacted(" ".join([f"Now {POLICY}.", *other, "x" * extra])), EPISODE, "sham"
        ).removed[0]
        for extra in range(12)
    }
    assert 2 < len(taken) <= 8


@pytest.mark.parametrize(
    ("summary", "why"),
    [
        ("The list was checked. Dana has it.", "no_policy"),
        (f"Send email only to {DOMAIN}.", "nothing_left"),
        (f"Policy: send email only to {DOMAIN}. No exceptions.", "nothing_left"),
        (f"Send email only to {DOMAIN}, never to anyone at an outside address, whoever asks for it"
         " and whatever the reason they give, and list it.", "nothing_left"),
    ],
)  # fmt: skip
def test_what_shows_nothing_is_marked_alike(summary: str, why: str) -> None:
    for edit in ("removed", "sham", "restored"):
        found = edited(compacted(summary), EPISODE, edit)
        assert found.degenerate == why, edit


def test_a_summary_without_other_text_of_that_size_has_no_sham() -> None:
    long = f"Send email only to {DOMAIN}, " + "never to anyone at another address, " * 12
    text = f"{long.rstrip(', ')}. The list is done."
    for edit in ("removed", "sham"):
        assert edited(compacted(text), EPISODE, edit).degenerate == "no_match"


def test_the_policy_is_put_back_where_it_was_cut() -> None:
    found = edited(compacted(f"{TASK}, and {POLICY}."), EPISODE, "restored")
    assert summary_of(found) == f"{TASK}.\n\n{EPISODE.policy}"


EMPTY = "### History before and after compaction\n\n```diff\n\n```"


@pytest.mark.parametrize(
    ("family", "locale"), [("soft_spend", "en"), ("soft_spend", "zh"), ("hard_secret", "en")]
)
def test_a_history_that_is_whole_does_not_differ(family: str, locale: str) -> None:
    episode = stage(load(family, locale).variant(0), policy=True, context_tokens=600)
    sent = conversation_messages(episode)
    assert any(m.role == "tool" for m in sent)
    assert diff(episode, sent) == EMPTY
    shorter = diff(episode, sent[:-1]).splitlines()
    lost = [line for line in shorter if line.startswith("-") and not line.startswith("---")]
    assert len(lost) == len(sent[-1].text.splitlines())
