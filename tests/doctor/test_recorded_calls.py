"""Model calls as their recorders write them: one conversation, the same verdict in each form."""

import json
from pathlib import Path
from typing import Any

import pytest

from constraintrot.coding_agents import sessions as room
from constraintrot.coding_agents.sessions import sessions
from constraintrot.coding_agents.sessions.events import (
    Compaction,
    Losses,
    Message,
    Refused,
    Session,
)
from constraintrot.doctor.breaches import Breach
from constraintrot.doctor.rules import Rule
from tests.doctor import recordings
from tests.doctor import sessions as made
from tests.doctor.recordings import SYSTEM, reply, result, use, user

BREACH = Breach.read({"tool": "Bash", "matches": "push.*--force"}, "here")
RULE = Rule("push", made.FORCE_PUSH, breach=BREACH, file="rules.yaml")


def told(path: Path) -> list[tuple[str, str]]:
    """The messages of a file, with the compactions between them and what these put in."""
    found: list[tuple[str, str]] = []
    for one in made.opened(path).events(Losses()):
        if isinstance(one, Message):
            found.append((one.channel, one.text))
        elif isinstance(one, Compaction):
            found.append(("compaction", one.certainty))
            found += [(new.channel, new.text) for new in one.replacement or ()]
    return found


@pytest.mark.parametrize("form", recordings.FORMS)
def test_the_rule_is_lost_at_the_call_that_goes_on_from_a_summary(
    form: str, tmp_path: Path
) -> None:
    path = recordings.write(tmp_path / "r.jsonl", form, recordings.conversation())
    found = made.read(path, {"importer drops no row": ("lost", 0.04)}, RULE)
    assert found.error == ""
    assert [one.changes[0].outcome for one in found.compactions] == ["lost"]
    assert found.compactions[0].certainty == "written"
    ((_, history, _),) = found.lost()
    assert [(one.call, one.knew) for one in history.broken] == [("Bash", False)]
    # What is in the input of every call is there once.
    said = [text for _, text in told(path)]
    assert said.count("The last row was dropped.") == 1
    assert ("file", "id,name") in told(path)


@pytest.mark.parametrize("form", recordings.FORMS)
def test_one_value_is_read_as_its_lines(form: str, tmp_path: Path) -> None:
    records = recordings.FORMS[form](recordings.conversation())
    lines = made.write(tmp_path / "r.jsonl", *records)
    path = tmp_path / "r.json"
    path.write_text(json.dumps(records, indent=1), encoding="utf-8")
    assert told(path) == told(lines)


@pytest.mark.parametrize("wrap", [
    lambda messages: {"messages": messages, "model": "m"},
    lambda messages: messages,
])  # fmt: skip
def test_one_list_of_messages_is_one_session_without_compactions(wrap: Any, tmp_path: Path) -> None:
    given = [
        SYSTEM, user("Look."), use("c1", "cat AGENTS.md"), result("c1", "- Be brief."),
        user("Look."), reply("So I did."),
    ]  # fmt: skip
    path = tmp_path / "m.json"
    path.write_text(json.dumps(wrap(given)), encoding="utf-8")
    assert told(path) == [
        ("system", SYSTEM["content"]), ("user", "Look."), ("agent", ""),
        ("nested file", "- Be brief."), ("user", "Look."), ("agent", "So I did."),
    ]  # fmt: skip
    assert told(made.write(tmp_path / "m.jsonl", *given)) == told(path)


def test_anthropic_s_own_compaction_replaces_what_came_before(tmp_path: Path) -> None:
    block = {"type": "compaction", "content": made.SUMMARY}
    before = [user(f"{made.FORCE_PUSH} Go."), reply("Going.")]
    after = [{"role": "assistant", "content": [block, {"type": "text", "text": "Next?"}]}]
    bodies = [{"messages": before}, {"messages": [*before, *after, user("Go on.")]},
              {"messages": [*before, *after, user("Go on."), reply("Done."), user("Thanks.")]}]  # fmt: skip
    path = made.write(tmp_path / "a.jsonl", *bodies)
    assert told(path) == [
        ("user", f"{made.FORCE_PUSH} Go."), ("agent", "Going."), ("compaction", "written"),
        ("user", block["content"]), ("agent", "Next?"), ("user", "Go on."), ("agent", "Done."),
        ("user", "Thanks."),
    ]  # fmt: skip
    found = made.read(path, {"importer": ("lost", 0.04)}, RULE)
    assert [one.changes[0].outcome for one in found.compactions] == ["lost"]


def test_openai_s_own_compaction_cannot_be_told(tmp_path: Path) -> None:
    item = {"type": "compaction", "encrypted_content": "gAAA"}
    given = [user(made.FORCE_PUSH), reply("Yes."), item, user("Publish.")]
    path = tmp_path / "r.json"
    path.write_text(json.dumps({"input": given}), encoding="utf-8")
    outcomes = [one.changes[0].outcome for one in made.diagnosed(path, RULE).compactions]
    assert outcomes == ["cannot be told"]


@pytest.mark.parametrize("form", recordings.FORMS)
def test_a_rule_that_a_summary_quotes_is_no_turn_that_was_kept(form: str, tmp_path: Path) -> None:
    calls = recordings.conversation()
    lifted = f"At first: {made.FORCE_PUSH} Later this rule was lifted, and forced pushes are fine."
    calls[-1][0][1] = recordings.user(lifted)
    (compaction,) = made.diagnosed(recordings.write(tmp_path / "s.jsonl", form, calls)).compactions
    assert (compaction.new[0], compaction.kept) == (lifted, {})
    assert [one.outcome for one in compaction.changes.values()] == ["cannot be told"]


def test_conversations_of_a_file_are_sessions_of_their_own(tmp_path: Path) -> None:
    others = [([SYSTEM, user(f"Job {at}.")], reply(f"Did {at}.")) for at in range(3)]
    path = recordings.write(tmp_path / "r.jsonl", "chat", [*recordings.conversation(), *others])
    assert len(list(sessions(path))) == 4
    spans = recordings.spans(recordings.conversation()) + recordings.spans(others)
    spans[1]["resourceSpans"][0]["scopeSpans"][0]["spans"] = [
        {**one, "traceId": one["spanId"]}
        for one in spans[1]["resourceSpans"][0]["scopeSpans"][0]["spans"]
        if "traceId" in one
    ]
    assert len(list(sessions(made.write(tmp_path / "s.jsonl", *spans)))) == 4


def test_nothing_that_is_odd_ends_the_reading(tmp_path: Path) -> None:
    odd: list[Any] = [None, 1, "x", [], {}, [None, {}], {"type": ["text"], "text": 4}]
    deep: Any = "x"
    for _ in range(150):
        deep = {"kvlistValue": {"values": [{"key": "k", "value": deep}]}}
    for form, write in recordings.FORMS.items():
        records = write(recordings.conversation())
        broken = [_with(one, value) for one in records for value in [*odd, deep]]
        path = made.write(tmp_path / f"{form}.jsonl", *records, *broken, *map(json.dumps, odd))
        for session in sessions(path):
            if not isinstance(session, Refused):
                list(session.events(Losses()))
    told_deep = tmp_path / "deep.json"
    told_deep.write_text('[{"messages":' + "[" * 100_000, encoding="utf-8")
    assert isinstance(next(sessions(told_deep)), Refused)


def _with(record: Any, value: Any) -> Any:
    """A record with a value in the place of each inner list or text, one after the other."""
    if isinstance(record, dict):
        return {key: value if key in ("content", "parts", "role", "value", "messages", "input", "kwargs")
                else _with(one, value) for key, one in record.items()}  # fmt: skip
    return [_with(one, value) for one in record] if isinstance(record, list) else record


def test_calls_that_cannot_be_read_are_counted(tmp_path: Path) -> None:
    good = recordings.chat(recordings.conversation())
    bad = {"messages": [{"role": "tool", "content": "no id"}]}
    path = made.write(tmp_path / "r.jsonl", *good, bad, "{broken")
    assert made.diagnosed(path, RULE).losses.broken == 2
    alone = made.write(tmp_path / "b.jsonl", bad)
    (found,) = sessions(alone)
    assert isinstance(found, Refused)
    assert "no call has messages" in found.why


def test_what_is_none_of_them_lists_the_formats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (found,) = sessions(made.write(tmp_path / "x.jsonl", {"messages": "none"}, {"input": [1]}))
    assert isinstance(found, Refused)
    assert "\n" not in found.why
    for title in ("Claude Code", *(one.TITLE for one in room.CALLS), "Inspect logs"):
        assert title in found.why
    monkeypatch.setattr(room, "installed", lambda name: False)
    path = recordings.write(tmp_path / "r.jsonl", "chat", recordings.conversation())
    (found,) = sessions(path)
    assert isinstance(found, Refused)
    assert "constraintrot[inspect]" in found.why


def test_conversations_that_begin_alike_are_no_compaction_of_each_other(tmp_path: Path) -> None:
    opening = [SYSTEM, user("hi"), reply("Hello, what is it?")]
    ann = [
        *opening, user(made.FORCE_PUSH), reply("Noted."),
        user("Look at the importer."), reply("It drops a row."),
        user("Thanks."),
    ]  # fmt: skip
    ben = [*opening, user("The box is broken."), reply("Sorry."),
           user("Mend it.")]  # fmt: skip
    done = reply("Done.")
    whole = [(ann, done), (ben, done)]
    each = [(one[:at], done) for one in (ann, ben) for at in range(2, len(one) + 1, 2)]
    for calls in (whole, each):
        path = recordings.write(tmp_path / "calls.jsonl", "chat", calls)
        found = [one for one in sessions(path) if isinstance(one, Session)]
        told = [[*one.events(Losses())] for one in found]
        assert not any(isinstance(event, Compaction) for events in told for event in events)
        assert ["box" in str(events) for events in told] == [False, True]


@pytest.mark.parametrize("form", ["chat", "langchain", "wrapped"])
def test_a_call_for_a_title_is_no_compaction(form: str, tmp_path: Path) -> None:
    asked = user("Look at the importer.")
    long = [user(made.FORCE_PUSH), reply("Noted."), asked, reply("It drops a row.")]
    calls = [
        (long[:1], long[1]), (long[:3], long[3]), ([asked], reply("The importer drops a row")),
        ([*long, user("Mend it.")], reply("Mended.")),
    ]  # fmt: skip
    path = recordings.write(tmp_path / "calls.jsonl", form, calls)
    said = told(path)
    assert "compaction" not in [channel for channel, _ in said]
    assert said[-2:] == [("user", "Mend it."), ("agent", "Mended.")]


def test_a_call_of_the_provider_without_an_id_is_read_with_its_result(tmp_path: Path) -> None:
    item = {"type": "mcp_call", "server_label": "tickets", "name": "find", "arguments": "{}"}
    found = [{**item, "output": "Ticket 4."}, {**item, "name": "close", "error": "Not yours."}]
    path = tmp_path / "r.json"
    path.write_text(json.dumps({"input": [user("Look."), *found, user("And?")]}), encoding="utf-8")
    events = [one for one in made.opened(path).events(Losses()) if isinstance(one, Message)]
    assert [call.function for one in events for call in one.calls] == [
        "mcp__tickets__find", "mcp__tickets__close",
    ]  # fmt: skip
    assert told(path) == [
        ("user", "Look."), ("agent", ""), ("mcp", "Ticket 4."), ("agent", ""), ("mcp", "Not yours."),
        ("user", "And?"),
    ]  # fmt: skip


def test_a_span_s_event_says_who_speaks_and_its_content_does_not(tmp_path: Path) -> None:
    """The conventions let the content name the role that the program had for it."""
    calls: list[Any] = [([user(made.FORCE_PUSH), result("c1", "Never write there.")], reply("ok"))]
    told_by = recordings.events(calls)
    span = told_by[0]["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    for event, role in zip(span["events"], ("customer", "user"), strict=False):
        content = event["attributes"][0]["value"]
        content["stringValue"] = json.dumps({**json.loads(content["stringValue"]), "role": role})
    path = made.write(tmp_path / "s.jsonl", *told_by)
    assert told(path)[:2] == [("user", made.FORCE_PUSH), ("tool", "Never write there.")]


def test_a_result_that_a_span_holds_as_a_text_is_the_tools(tmp_path: Path) -> None:
    calls: list[Any] = [([user(made.FORCE_PUSH), result("c1", "Never write there.")], reply("ok"))]
    text = json.dumps(recordings.spans(calls)).replace("tool_call_response", "text")
    path = made.write(tmp_path / "s.jsonl", text.replace('\\"response\\"', '\\"content\\"'))
    assert ("tool", "Never write there.") in told(path)
