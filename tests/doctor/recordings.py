"""One conversation as each recorder of model calls writes it; invented."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from tests.doctor import sessions as made

Message: TypeAlias = dict[str, Any]
Call: TypeAlias = tuple[list[Message], Message]
"""The input of a model call, and its answer, as Chat Completions has them."""

SYSTEM = {"role": "system", "content": "You look after the shop's code."}


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def reply(text: str) -> Message:
    return {"role": "assistant", "content": text}


def use(key: str, command: str) -> Message:
    function = {"name": "Bash", "arguments": json.dumps({"command": command})}
    called = [{"id": key, "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": called}


def result(key: str, text: str) -> Message:
    return {"role": "tool", "tool_call_id": key, "content": text}


def conversation(shown: str = "id,name") -> list[Call]:
    """Calls of which the last goes on from a summary that leaves the rule out.

    Args:
        shown: what the tool gives back.
    """
    first = [SYSTEM, user(f"{made.FORCE_PUSH} Please look at the importer.")]
    then = [*first, use("c1", "head -3 rows.csv"), result("c1", shown)]
    tail = [user("Which file has it?"), reply("It is in importer.py.")]
    long = [*then, reply("The last row was dropped."), user("Mend it."), reply("Mended.")]
    after = [SYSTEM, user(f"Summary of what was done: {made.SUMMARY}"), *tail, user("Go on.")]
    return [
        (first, then[2]),
        (then, reply("The last row was dropped.")),
        (long[:-1], long[-1]),
        ([*long, tail[0]], tail[1]),
        (after, use("c2", "git push --force origin release")),
    ]


def chat(calls: Sequence[Call]) -> list[Any]:
    """Bodies of Chat Completions with their answers."""
    return [
        {"request": {"model": "m", "messages": given}, "response": {"choices": [{"message": said}]}}
        for given, said in calls
    ]


def responses(calls: Sequence[Call]) -> list[Any]:
    """Bodies of Responses with their answers."""
    return [
        {
            "request": {"instructions": given[0]["content"], "input": _items(given[1:])},
            "response": {"output": _items([said])},
        }
        for given, said in calls
    ]


def anthropic(calls: Sequence[Call]) -> list[Any]:
    """Bodies of Anthropic's messages with their answers."""
    return [
        {
            "request": {"system": given[0]["content"], "messages": [*map(_blocks, given[1:])]},
            "response": {"type": "message", **_blocks(said)},
        }
        for given, said in calls
    ]


def langchain(calls: Sequence[Call]) -> list[Any]:
    """Runs as LangChain's tracer writes them, under the run of a chain."""
    below = [
        {
            "run_type": "llm", "name": "ChatModel", "trace_id": "t", "start_time": _time(at),
            "inputs": {"messages": [[_constructed(one) for one in given]]},
            "outputs": {"generations": [[{"text": "", "message": _constructed(said)}]]},
        }
        for at, (given, said) in enumerate(calls)
    ]  # fmt: skip
    turns = [
        {"run_type": "chain", "name": "Agent", "inputs": {"input": "x"}, "child_runs": [one],
         "outputs": None, "trace_id": "t"}
        for one in reversed(below)
    ]  # fmt: skip
    return turns


def wrapped(calls: Sequence[Call]) -> list[Any]:
    """Runs as LangSmith's wrapper of OpenAI's client writes them; a trace a turn, one thread."""
    return [
        {
            "run_type": "llm", "trace_id": f"t{at}", "start_time": _time(at),
            "inputs": {"messages": given, "model": "m"}, "outputs": {"choices": [{"message": said}]},
            "extra": {"metadata": {"thread_id": "th"}},
        }
        for at, (given, said) in enumerate(calls)
    ]  # fmt: skip


def spans(calls: Sequence[Call]) -> list[Any]:
    """Spans of the semantic conventions from 1.37 on, the messages as JSON in attributes."""
    told = [
        _span(at, [
            _attribute("gen_ai.operation.name", "chat"),
            _attribute("gen_ai.system_instructions", json.dumps(_parts(given[0])["parts"])),
            _attribute("gen_ai.input.messages", json.dumps([_parts(one) for one in given[1:]])),
            _attribute("gen_ai.output.messages", json.dumps([_parts(said)])),
        ])
        for at, (given, said) in enumerate(calls)
    ]  # fmt: skip
    agent = _span(9, [_attribute("gen_ai.operation.name", "invoke_agent"),
                      _attribute("gen_ai.input.messages", json.dumps([_parts(user("All."))]))])  # fmt: skip
    return [{"resourceSpans": [{"scopeSpans": [{"spans": [*told, agent, {"name": "GET /"}]}]}]}]


def logs(calls: Sequence[Call]) -> list[Any]:
    """The same conventions' event of an inference, structured, in logs."""
    records = [
        {
            "timeUnixNano": _nano(at), "traceId": "ab", "spanId": f"{at}",
            "eventName": "gen_ai.client.inference.operation.details",
            "attributes": [
                {"key": "gen_ai.input.messages", "value": _value([_parts(one) for one in given])},
                {"key": "gen_ai.output.messages", "value": _value([_parts(said)])},
            ],
        }
        for at, (given, said) in enumerate(calls)
    ]  # fmt: skip
    return [{"resourceLogs": [{"scopeLogs": [{"logRecords": [one]}]}]} for one in records]


def events(calls: Sequence[Call]) -> list[Any]:
    """Spans of the semantic conventions up to 1.36, an event a message."""
    return [
        {"resourceSpans": [{"scopeSpans": [{"spans": [
            _span(at, [_attribute("gen_ai.operation.name", "chat")],
                  [*map(_event, given), _choice(said)])
        ]}]}]}
        for at, (given, said) in enumerate(calls)
    ]  # fmt: skip


FORMS: dict[str, Callable[[Sequence[Call]], list[Any]]] = {
    one.__name__: one
    for one in (chat, responses, anthropic, langchain, wrapped, spans, logs, events)
}


def write(path: Path, form: str, calls: Sequence[Call]) -> Path:
    return made.write(path, *FORMS[form](calls))


def _items(messages: Sequence[Message]) -> list[Any]:
    found: list[Any] = []
    for one in messages:
        for call in one.get("tool_calls") or []:
            found.append({"type": "function_call", "call_id": call["id"], **call["function"]})
        if one["role"] == "tool":
            found.append({"type": "function_call_output", "call_id": one["tool_call_id"],
                          "output": one["content"]})  # fmt: skip
        elif one["content"]:
            kind = "output_text" if one["role"] == "assistant" else "input_text"
            content = [{"type": kind, "text": one["content"]}]
            found.append({"type": "message", "role": one["role"], "content": content})
    return found


def _blocks(message: Message) -> Message:
    if message["role"] == "tool":
        block = {"type": "tool_result", "tool_use_id": message["tool_call_id"],
                 "content": [{"type": "text", "text": message["content"]}]}  # fmt: skip
        return {"role": "user", "content": [block]}
    blocks: list[Any] = [{"type": "text", "text": message["content"]}] if message["content"] else []
    for call in message.get("tool_calls") or []:
        arguments = json.loads(call["function"]["arguments"])
        blocks.append({"type": "tool_use", "id": call["id"], "name": "Bash", "input": arguments})
    return {"role": message["role"], "content": blocks}


def _constructed(message: Message) -> Any:
    kinds = {"system": "System", "user": "Human", "assistant": "AI", "tool": "Tool"}
    kind = {"user": "human", "assistant": "ai"}.get(message["role"], message["role"])
    calls = [
        {"name": "Bash", "args": json.loads(one["function"]["arguments"]), "id": one["id"]}
        for one in message.get("tool_calls") or []
    ]
    kwargs = {"content": message["content"] or "", "type": kind, "tool_calls": calls,
              "tool_call_id": message.get("tool_call_id")}  # fmt: skip
    name = f"{kinds[message['role']]}Message"
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name],
            "kwargs": kwargs}  # fmt: skip


def _parts(message: Message) -> Message:
    if message["role"] == "tool":
        part = {"type": "tool_call_response", "id": message["tool_call_id"],
                "response": message["content"]}  # fmt: skip
        return {"role": "tool", "parts": [part]}
    parts: list[Any] = (
        [{"type": "text", "content": message["content"]}] if message["content"] else []
    )
    for call in message.get("tool_calls") or []:
        arguments = json.loads(call["function"]["arguments"])
        parts.append(
            {"type": "tool_call", "id": call["id"], "name": "Bash", "arguments": arguments}
        )
    return {"role": message["role"], "parts": parts}


def _event(message: Message) -> Any:
    told = {"content": message["content"] or ""}
    if "tool_calls" in message:
        told["tool_calls"] = message["tool_calls"]
    if message["role"] == "tool":
        told["id"] = message["tool_call_id"]
    return {"name": f"gen_ai.{message['role']}.message",
            "attributes": [_attribute("gen_ai.event.content", json.dumps(told))]}  # fmt: skip


def _choice(message: Message) -> Any:
    content = {"index": 0, "finish_reason": "stop", "message": message}
    return {"name": "gen_ai.choice",
            "attributes": [{"key": "gen_ai.event.content", "value": {"stringValue": json.dumps(content)}}]}  # fmt: skip


def _span(at: int, attributes: list[Any], events: Sequence[Any] = ()) -> Any:
    return {"traceId": "ab", "spanId": f"{at}", "name": "chat m", "startTimeUnixNano": _nano(at),
            "attributes": attributes, "events": list(events)}  # fmt: skip


def _attribute(key: str, text: str) -> Any:
    return {"key": key, "value": {"stringValue": text}}


def _value(plain: Any) -> Any:
    if isinstance(plain, list):
        return {"arrayValue": {"values": [_value(one) for one in plain]}}
    if isinstance(plain, dict):
        values = [{"key": key, "value": _value(one)} for key, one in plain.items()]
        return {"kvlistValue": {"values": values}}
    return {"stringValue": plain}


def _nano(at: int) -> str:
    return str(1_790_000_000_000_000_000 + at * 1_000_000_000)


def _time(at: int) -> str:
    return f"2026-10-05T14:{at:02}:00.000000+00:00"
