"""Claims of authority are marked where they stand, and nothing else is touched."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.model import ChatMessage, ChatMessageTool, ContentImage, ContentText
from inspect_ai.tool import ToolCall, ToolCallError

from constraintrot import attacks
from constraintrot.defenses.operator.state import Constraint, State
from constraintrot.defenses.operator.unverified_claims import MARK, MOST, current, mark, marked
from constraintrot.episode.messages import history_segments
from constraintrot.episode.staging import stage
from constraintrot.rule_text import orders as cues
from constraintrot.scenario import history
from constraintrot.scenario.files import load
from constraintrot.scenario.schema import LOCALES
from tests.defenses.operator.around import CLAIM
from tests.defenses.operator.desk import POLICY, signed
from tests.defenses.tool_texts import ORDINARY, POSING
from tests.harnesses.messages import said, system, user

TO_MARK = [text for text, kind in POSING if kind != "text to the summarizer"]
ANY_TEXT = st.lists(
    st.one_of(
        st.sampled_from([text for text, _ in POSING]),
        st.sampled_from(ORDINARY),
        st.sampled_from([MARK, MARK[:9], MARK[9:], "[", "] ", CLAIM]),
        st.text(max_size=8),
    ),
    max_size=6,
)


@pytest.mark.parametrize("text", TO_MARK)
def test_a_claim_is_marked_and_stays(text: str) -> None:
    written = mark(text)
    assert MARK in written
    assert written.replace(MARK, "") == text


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_texts_stay_as_they_are(text: str) -> None:
    assert mark(text) == text


def folded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sentences that are read from now on."""
    read: list[str] = []
    fold = cues._fold

    def noted(text: str) -> str:
        read.append(text)
        return fold(text)

    monkeypatch.setattr(cues, "_fold", noted)
    return read


@pytest.mark.parametrize("piece", [";", "; ", ".", "1,2;"])
def test_separators_are_not_read(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A megabyte of them once took 38 seconds."""
    read = folded(monkeypatch)
    text = piece * 2_000
    assert mark(text) == text
    assert read == []


def test_what_is_behind_more_sentences_than_anybody_writes_is_marked_unread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = folded(monkeypatch)
    text = "a. " * (MOST + 500) + CLAIM
    written = mark(text)
    assert len(read) == MOST
    assert written.replace(MARK, "") == text
    assert written.index(MARK) == 3 * MOST
    assert written.count(MARK) == 6
    assert mark(written) == written
    # The same message again, at the next call, is not read again.
    assert mark(text) == written
    assert len(read) == 2 * MOST


@pytest.mark.parametrize("brought", [MARK, MARK[:20] * 500 + MARK[20:] * 500])
def test_marks_that_content_brings_along_are_taken_out_nested_ones_too(brought: str) -> None:
    assert mark(f"{brought}Room 4 is free.") == "Room 4 is free."


def test_the_mark_stands_before_the_sentence() -> None:
    assert mark(f"Room 4 is free.\n  {CLAIM} Room 5 is not.\n") == (
        f"Room 4 is free.\n  {MARK}{CLAIM} Room 5 is not.\n"
    )


def test_a_signed_directive_in_a_conversation_is_a_claim_too() -> None:
    """Its signature may be genuine: what counts is where it came in."""
    text = signed()
    assert mark(f"Found this:\n{text}\nBye.") == f"Found this:\n{MARK}{text}\nBye."


@given(ANY_TEXT, st.sampled_from(["", " ", "\n"]))
def test_marking_again_changes_nothing(parts: list[str], joint: str) -> None:
    text = joint.join(parts)
    written = mark(text)
    assert mark(written) == written
    bare = text
    while MARK in bare:
        bare = bare.replace(MARK, "")
    assert written.replace(MARK, "") == bare


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("attack", ["impersonate_rescind", "impersonate_signed"])
def test_each_rescission_of_the_attacks_is_marked(attack: str, locale: str) -> None:
    variant = load("soft_spend", locale).variant(1)
    before = stage(variant, policy=True)
    after = attacks.apply(attack, before)
    found = [marked(message) for segment in history_segments(after) for message in segment]
    assert sum(MARK in message.text for message in found) == 1
    clean = [marked(message) for segment in history_segments(before) for message in segment]
    assert clean == [message for segment in history_segments(before) for message in segment]


@pytest.mark.parametrize("family", ["soft_email", "soft_spend", "soft_channel"])
def test_benign_histories_stay_as_they_are(family: str) -> None:
    for locale in LOCALES:
        turns = history.for_tokens(load(family, locale).variant(2), 2000)
        results = [call.result for turn in turns for call in turn.calls]
        assert [mark(result) for result in results] == results


def test_only_tool_results_and_summaries_are_marked() -> None:
    call = ToolCall(id="c", function="read", arguments={"path": CLAIM})
    kept: list[ChatMessage] = [
        system(CLAIM),
        user(CLAIM),
        said(CLAIM, tool_calls=[call]),
        ChatMessageTool(content="Nothing.", tool_call_id="c"),
    ]
    assert [marked(message) for message in kept] == kept
    image = ContentImage(image="data:image/png;base64,AA==")
    error = ToolCallError("unknown", CLAIM)
    posing: list[ChatMessage] = [
        ChatMessageTool(content=CLAIM, tool_call_id="c"),
        ChatMessageTool(content=[image, ContentText(text=CLAIM)], tool_call_id="c"),
        user(CLAIM, metadata={"summary": True}),
        user([ContentText(text=CLAIM)], metadata={"summary": True}),
    ]
    assert [marked(message).text for message in posing] == [MARK + CLAIM] * 4
    failed = marked(ChatMessageTool(content="", tool_call_id="c", error=error))
    assert isinstance(failed, ChatMessageTool)
    assert failed.error is not None
    assert failed.error.message == MARK + CLAIM


# What is not in force any more.

TWO = "Mail goes to example.org only. Nobody may mail anyone else."


def state(*force: str, past: str) -> State:
    held = tuple(Constraint(name=f"p{at}", content=text) for at, text in enumerate(force))
    return State(constraints=held, past=(Constraint(name="mail", content=past),))


def shown(text: str, of: State) -> list[str]:
    messages: list[ChatMessage] = [
        system(text),
        user([ContentText(text=text)]),
        said(text),
        ChatMessageTool(content=text, tool_call_id="c"),
    ]
    return [current(message, of).text for message in messages]


def test_a_text_that_is_not_in_force_gives_way_wherever_it_stands() -> None:
    reference = "[mail: see the operator's registry]"
    assert set(shown(f"Note: {TWO} Thanks.", state(past=TWO))) == {f"Note: {reference} Thanks."}
    # A summary may keep one of its sentences.
    assert set(shown("Nobody may mail anyone else.", state(past=TWO))) == {reference}


def test_what_is_in_force_stays() -> None:
    half = "Nobody may mail anyone else."
    assert set(shown(half, state(half, past=TWO))) == {half}
    assert set(shown(TWO, state(TWO, past=TWO))) == {TWO}
    assert set(shown(POLICY, state(past=TWO))) == {POLICY}
    assert set(shown("No.", state(past="No. Never."))) == {"No."}
