"""History is compacted at a threshold, and handed off when it was compacted too often."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from inspect_ai.model import ChatMessage, ModelOutput, get_model

from constraintrot.errors import ParameterError
from constraintrot.memory.pipeline import Budget, Pipeline, Prepared
from constraintrot.memory.pipeline.history import HEADINGS, Compaction, Handoff, Summary, briefing
from constraintrot.memory.pipeline.profiles import layers
from tests.harnesses.messages import user
from tests.memory.pipeline.conversations import RULE, rules, talk, texts

SMALL = Budget(
    total=1000, system=50, tools=50, memory=50, retrieval=50, domain=50, history=600, query=150
)
TICKET = "ticket-17"
BRIEF = "Leading words.\nOBJECTIVE: to ship\n**STATE:** half done\nCONSTRAINTS: none known\n"


async def write(messages: Sequence[ChatMessage]) -> str:
    return f"{len(messages)} messages"


def asking(turns: int) -> list[ChatMessage]:
    """Return a conversation whose last request is not answered yet."""
    return talk(turns, words=30)[:-1]


def play(pipeline: Pipeline, turns: Sequence[int]) -> list[Prepared]:
    said = ModelOutput.from_content("m", BRIEF)
    model = get_model("mockllm/model", custom_outputs=lambda *_: said, memoize=False)

    async def all_of_it() -> list[Prepared]:
        return [
            await pipeline.prepare(asking(number), model=model, session=TICKET) for number in turns
        ]

    return asyncio.run(all_of_it())


def test_history_is_compacted_from_the_threshold_on_and_stays_so() -> None:
    pipeline = Pipeline([Compaction(Summary(write))], budget=SMALL, pins=rules(RULE))
    found = play(pipeline, range(4, 30))
    session = pipeline.sessions.get("", TICKET)
    assert session.compactions == len(session.history) >= 1
    for one in found:
        assert sum(RULE in text for text in texts(one)) == 1
        assert texts(one)[-1].startswith("Request")
        assert one.traces[-1].tokens_after <= 0.8 * SMALL.total
    before = [one for one in found if not one.traces[0].changed]
    assert before
    assert not any("messages" in text and "[Summary" in text for text in texts(before[0]))
    assert any("[Summary of the conversation so far]" in text for text in texts(found[-1]))
    assert not any(RULE in m.text for ran in session.history for m in ran.shown)


def test_a_writer_need_not_be_async_and_gives_a_text() -> None:
    plain = Pipeline([Compaction(Summary(lambda messages: "A few messages."))], budget=SMALL)
    assert any("A few messages." in text for text in texts(play(plain, range(4, 30))[-1]))
    # What a model gives is a message and no text.
    wrong: Any = lambda _: ModelOutput.from_content("m", "A few messages.").message  # noqa: E731
    for layer in (Compaction(Summary(wrong)), Handoff(after=0, write=wrong)):
        with pytest.raises(
            ParameterError, match="write gives a text, and not ChatMessageAssistant"
        ):
            play(Pipeline([layer], budget=SMALL), range(4, 30))


def test_a_client_that_edits_what_was_compacted_starts_again() -> None:
    pipeline = Pipeline([Compaction(Summary(write))], budget=SMALL)
    play(pipeline, [20])
    edited = [user("Something else."), *asking(2)[2:]]
    found = asyncio.run(pipeline.prepare(edited, session=TICKET))
    assert texts(found) == [m.text for m in edited]
    assert found.traces[0].notes == {"forgot": True}


def test_after_two_compactions_a_briefing_starts_afresh() -> None:
    pipeline = Pipeline([Handoff(), Compaction(Summary(write))], budget=SMALL, pins=rules(RULE))
    found = play(pipeline, range(4, 50))
    session = pipeline.sessions.get("", TICKET)
    kinds = [ran.kind for ran in session.history]
    assert kinds[:3] == ["compaction", "compaction", "handoff"]
    assert kinds.count("handoff") == session.handoffs
    at = next(one for one in found if "handoffs" in one.traces[0].notes)
    told = next(text for text in texts(at) if "OBJECTIVE" in text)
    assert [line.partition(":")[0] for line in told.splitlines()[1:]] == list(HEADINGS)
    assert all(sum(RULE in text for text in texts(one)) == 1 for one in found)


def test_a_briefing_has_all_headings_once_and_in_order() -> None:
    assert briefing(BRIEF).splitlines() == [
        "OBJECTIVE: to ship", "CONTEXT: Leading words.", "STATE: half done",
        "CONSTRAINTS: none known", "NEXT_STEPS: none stated",
    ]  # fmt: skip
    assert briefing("All well.").splitlines()[1] == "CONTEXT: All well."
    assert briefing("STATE: a\nOBJECTIVE: b\nSTATE: c").splitlines() == [
        "OBJECTIVE: b", "CONTEXT: none stated", "STATE: a", "c",
        "CONSTRAINTS: none stated", "NEXT_STEPS: none stated",
    ]  # fmt: skip


def test_a_summary_in_the_system_role_is_only_written_where_it_is_asked_for() -> None:
    for role in ("user", "system"):
        pipeline = Pipeline([Compaction(Summary(write), summary_role=role)], budget=SMALL)
        (found,) = play(pipeline, [20])
        (summary,) = [m for m in found.messages if "[Summary" in m.text]
        assert summary.role == role
    with pytest.raises(ParameterError, match="user or system"):
        Compaction(Summary(write), summary_role="tool")
    with pytest.raises(ParameterError, match="share of the budget"):
        Compaction(Summary(write), threshold=80)


def test_the_default_keeps_ten_turns() -> None:
    pipeline = Pipeline([one for one in layers() if one.name == "compaction"], budget=SMALL)
    (found,) = play(pipeline, [20])
    assert sum("Request" in text for text in texts(found)) == 10
