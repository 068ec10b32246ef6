import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.tool import ToolInfo

from constraintrot.models.in_process import server
from constraintrot.models.in_process.prompt import Prompt, as_text
from constraintrot.models.in_process.server import Completion
from constraintrot.tasks.probes.schema import QUERIES, TOOL, mentions, query
from tests.conftest import Run
from tests.helpers import samples
from tests.tasks.probes import fakes

SCORE = "tool_use"


def caller(prompt: str, tools: Sequence[ToolInfo]) -> ModelOutput:
    """Calls the tool if it is offered, and must call something."""
    name = TOOL if TOOL in [tool.name for tool in tools] else "reply"
    arguments = {"page": 94} if name == TOOL else {"text": "I cannot read memory."}
    return ModelOutput.for_tool_call(fakes.NAME, name, arguments, content="")


def test_what_is_not_compiled_is_not_called(run: Run) -> None:
    log = run("rampart_schema", model=fakes.model(caller), n=3)
    assert fakes.cells(log, SCORE, "invoked") == {"present": 1.0, "evicted": 0.0}
    assert set(fakes.cells(log, SCORE, "mentioned").values()) == {0.0}
    assert set(fakes.cells(log, SCORE, "silent").values()) == {0.0}
    found = samples(log)
    assert [s.metadata["offered"] for s in found["present"]] == [[TOOL, "reply"]] * 3
    assert [s.metadata["offered"] for s in found["evicted"]] == [["reply"]] * 3
    assert [s.input for s in found["present"]] == [s.input for s in found["evicted"]]
    assert all(TOOL in s.messages[0].text for s in found["present"])
    assert not any(TOOL in message.text for s in found["evicted"] for message in s.messages)


@pytest.mark.parametrize("in_reply", [True, False])
def test_a_mention_is_counted_in_text_and_in_arguments(run: Run, in_reply: bool) -> None:
    def talker(*_: object) -> ModelOutput:
        words = f"I would use {TOOL} for this."
        if in_reply:
            return ModelOutput.for_tool_call(fakes.NAME, "reply", {"text": words}, content="")
        return ModelOutput.from_content(fakes.NAME, words)

    log = run("rampart_schema", model=fakes.model(talker), n=1)
    assert fakes.cells(log, SCORE, "mentioned") == {"present": 1.0, "evicted": 1.0}
    assert fakes.cells(log, SCORE, "invoked") == {"present": 0.0, "evicted": 0.0}


def test_a_call_of_what_was_not_offered_is_still_a_call(run: Run) -> None:
    call = ModelOutput.for_tool_call(fakes.NAME, TOOL, {"page": 1}, content="")
    log = run("rampart_schema", model=fakes.model(lambda *_: call), n=1)
    assert fakes.cells(log, SCORE, "invoked") == {"present": 1.0, "evicted": 1.0}


def test_silence_is_no_erasure(run: Run) -> None:
    log = run("rampart_schema", model=fakes.writer(lambda _: " "), n=1)
    assert fakes.cells(log, SCORE, "silent") == {"present": 1.0, "evicted": 1.0}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (f"Use {TOOL}(3).", True),
        ("Use NVM-Fetch-Page.", True),
        ("Use nvm fetch page 3.", True),
        ("The nvmfetchpage routine.", True),
        ("Fetch the page from memory.", False),
        (f"my{TOOL}", False),
        ("", False),
    ],
)
def test_mentions(words: str, expected: bool) -> None:
    assert mentions(words) is expected


def test_queries_are_distinct() -> None:
    assert len({query(seed) for seed in range(QUERIES)}) == QUERIES


@dataclass
class Engine:
    """Stands for a local model that takes the first alternative of its schema."""

    prompts: list[str] = field(default_factory=list)

    def tokens(self, prompt: Prompt) -> list[int]:
        return [ord(letter) for letter in as_text(prompt)]

    def complete(
        self, prompt: list[int], settings: Mapping[str, Any], cancelled: threading.Event
    ) -> Completion:
        self.prompts.append("".join(map(chr, prompt)))
        first = settings["json_schema"]["anyOf"][0]["properties"]["name"]["const"]
        arguments = {"page": 94} if first == TOOL else {"text": "I have no such tool."}
        answer = json.dumps({"name": first, "arguments": arguments})
        return Completion(answer, "stop", len(prompt), 0, len(answer), {})

    def close(self) -> None:
        """Nothing is open."""


def test_a_model_that_must_call_has_something_else_to_call(run: Run, tmp_path: Path) -> None:
    engine, weights = Engine(), tmp_path / "own.gguf"
    weights.touch()
    model = get_model("local/own", path=str(weights), opener=lambda _: engine, memoize=False)
    try:
        log = run("rampart_schema", model=model, n=2)
    finally:
        server.close()
    assert fakes.cells(log, SCORE, "invoked") == {"present": 1.0, "evicted": 0.0}
    assert set(fakes.cells(log, SCORE, "mentioned").values()) == {0.0}
    assert sum(TOOL in prompt for prompt in engine.prompts) == 2
    assert len(engine.prompts) == 4
    assert all("exactly one function call" in prompt for prompt in engine.prompts)
