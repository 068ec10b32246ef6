from __future__ import annotations

from collections.abc import Sequence

import pytest
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import ModelOutput
from inspect_ai.tool import ToolInfo

from constraintrot.tasks.probes.schema import QUERIES, TOOL, mentions, query, rampart_schema
from tests.conftest import Run
from tests.helpers import samples

from . import fakes

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


def test_the_local_models_are_told_the_format(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def keep(prompt: str, _: Sequence[ToolInfo]) -> ModelOutput:
        asked.append(prompt)
        return ModelOutput.from_content(fakes.NAME, "Done.")

    model = fakes.model(keep)
    run("rampart_schema", model=model, n=1, arms="present", size=0)
    monkeypatch.setattr(type(model), "__str__", lambda _: "local/fake")
    run("rampart_schema", model=model, n=1, arms="present", size=0)
    assert ["one function call" in prompt for prompt in asked] == [False, True]


@pytest.mark.parametrize("wrong", [{"size": 31}, {"arms": "gone"}, {"n": 129}, {"tool": "x"}])
def test_a_wrong_parameter_is_refused_at_once(wrong: dict[str, object]) -> None:
    with pytest.raises(PrerequisiteError):
        rampart_schema(**wrong)  # type: ignore[arg-type]
