"""The APIs of LangSmith and Phoenix on loopback, as far as Scout's sources ask them; invented."""

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from tests.doctor.sessions import FORCE_PUSH, SUMMARY
from tests.http_stub import JSON, Answer, answering

HISTORY = [FORCE_PUSH, "Understood.", "Please look at the importer.", "It drops the last row."]
# What each model call was shown, and its answer: the second is asked for a summary.
CALLS = [
    (HISTORY, "ok"),
    ([*HISTORY, "Summarise the work."], SUMMARY),
    ([f"So far: {SUMMARY}", "ok", "Go on."], "done"),
]
_ID = "00000000-0000-0000-0000-0000000000"


def _langsmith_run(at: int, texts: Sequence[str], says: str) -> dict[str, Any]:
    root = at == 0
    messages = [
        {"role": ("user", "assistant")[turn % 2], "content": text}
        for turn, text in enumerate(texts)
    ]
    answer = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": says},
    }
    return {
        "id": f"{_ID}{at:02}", "trace_id": f"{_ID}00", "name": "agent" if root else "ChatOpenAI",
        "run_type": "chain" if root else "llm", "parent_run_id": None if root else f"{_ID}00",
        "start_time": f"2026-10-05T10:0{at}:00", "end_time": f"2026-10-05T10:0{at}:30",
        "dotted_order": f"2026{at}", "session_id": f"{_ID}99",
        "inputs": {"messages": messages}, "extra": {"metadata": {"ls_model_name": "m"}},
        "outputs": {"id": "c", "created": 1, "model": "m", "object": "chat.completion",
                    "choices": [answer]},
    }  # fmt: skip


def _phoenix_span(at: int, texts: Sequence[str], says: str) -> dict[str, Any]:
    root = at == 0
    told: dict[str, Any] = {"openinference.span.kind": "CHAIN" if root else "LLM"}
    told |= {"llm.model_name": "m", "llm.provider": "openai"}
    for turn, text in enumerate(texts):
        told[f"llm.input_messages.{turn}.message.role"] = ("user", "assistant")[turn % 2]
        told[f"llm.input_messages.{turn}.message.content"] = text
    told["llm.output_messages.0.message.role"] = "assistant"
    told["llm.output_messages.0.message.content"] = says
    return {
        "id": f"s{at}", "name": "agent" if root else "ChatCompletion",
        "context": {"trace_id": "t1", "span_id": f"{at:016x}"},
        "span_kind": told["openinference.span.kind"], "parent_id": None if root else f"{0:016x}",
        "start_time": f"2026-10-05T10:0{at}:00+00:00", "end_time": f"2026-10-05T10:0{at}:30+00:00",
        "status_code": "OK", "status_message": "", "attributes": told, "events": [],
    }  # fmt: skip


def _answer(path: str, asked: dict[str, Any]) -> object:
    if "/spans" in path:
        told = [_phoenix_span(0, [FORCE_PUSH], "done")]
        told += [_phoenix_span(at, *one) for at, one in enumerate(CALLS, 1)]
        return {"data": told, "next_cursor": None}
    if "/sessions" in path:
        return [{"id": f"{_ID}99", "name": "shop", "start_time": "2026-10-05T10:00:00",
                 "tenant_id": f"{_ID}98", "reference_dataset_id": None}]  # fmt: skip
    if "/runs/query" in path:
        runs = [_langsmith_run(0, [FORCE_PUSH], "done")]
        if not asked.get("is_root"):
            runs += [_langsmith_run(at, *one) for at, one in enumerate(CALLS, 1)]
        return {"runs": runs, "cursors": {}}
    return {}


def serving(status: int) -> AbstractContextManager[str]:
    """Both APIs; with a status other than 200 they refuse everything."""

    def answer(path: str, body: bytes) -> Answer:
        asked = json.loads(body or b"{}")
        told = _answer(path, asked) if status == 200 else {"detail": "Invalid token"}
        return status, JSON, json.dumps(told).encode()

    return answering(answer)
