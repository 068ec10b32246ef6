"""What the README and the docs show as code runs."""

import re
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.event import CompactionEvent, InfoEvent
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    Model,
    ModelAPI,
    ModelInfo,
    ModelOutput,
    ModelUsage,
    modelapi,
    set_model_info,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from tests.small_install import ROOT, project

POLICY = "Send email only to addresses at example.org."


@modelapi(name="talker")
class Talker(ModelAPI):
    """Talks a lot, says nothing about any policy when asked for a summary, then submits."""

    def __init__(self) -> None:
        super().__init__("talker", config=GenerateConfig())
        self.inputs: list[list[ChatMessage]] = []

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        if not tools:
            return ModelOutput.from_content("talker", "Some talk.")
        self.inputs.append(list(input))
        if len(self.inputs) > 12:
            return ModelOutput.for_tool_call("talker", "submit", {"answer": "done"})
        output = ModelOutput.from_content("talker", "I am still working on it. " * 40)
        sent = sum(len(message.text) // 4 for message in input)
        output.usage = ModelUsage(input_tokens=sent, output_tokens=260, total_tokens=sent + 260)
        return output

    async def count_text_tokens(self, text: str) -> int:
        return len(text) // 4


@pytest.mark.parametrize("page", ["README.md", "docs/pinning.md"])
def test_the_example_pins_a_policy_in_a_react_agent(page: str, tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    (example,) = [block for block in blocks if "PinnedCompaction" in block]
    assert POLICY in example
    assert len(example.strip().splitlines()) <= 10
    names: dict[str, Any] = {}
    exec(example, names)
    set_model_info("talker", ModelInfo(context_length=2_000, output_tokens=500))
    api = Talker()
    (log,) = eval(
        Task(dataset=[Sample(input="Do the work.")], solver=names["agent"]),
        model=Model(api, GenerateConfig()),
        log_dir=str(tmp_path),
        display="none",
    )
    assert log.status == "success", log.error
    assert log.samples is not None
    events = log.samples[0].events
    assert sum(isinstance(event, CompactionEvent) for event in events) >= 2
    receipts = [e for e in events if isinstance(e, InfoEvent) and e.source == "pin receipt"]
    assert len(receipts) >= 2
    assert len(api.inputs) == 13
    for sent in api.inputs:
        assert "\n".join(message.text for message in sent).count(POLICY) == 1


def test_the_registry_page_runs() -> None:
    page = (ROOT / "docs/rampart.md").read_text()
    first = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0]
    exec(first, {})


def test_the_readme_reads_the_same_on_an_index() -> None:
    """There no link of the repository's own resolves; each names a page that is here."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)]+)\)", text)
    home = f"{project()['urls']['Homepage']}/blob/main/"
    assert len(targets) > 20
    # A picture's address is that of its bytes, not of its page.
    for target in [one.replace("/raw/main/", "/blob/main/") for one in targets]:
        assert target.startswith(home), target
        path, _, fragment = target.removeprefix(home).partition("#")
        assert (ROOT / path).is_file(), target
        assert not fragment, target


def test_the_projects_addresses_lead_home() -> None:
    urls = project()["urls"]
    home = urls["Homepage"]
    assert re.fullmatch(r"https://github\.com/[\w-]+/[\w-]+", home)
    for url in urls.values():
        path = re.sub(r"^/(blob|tree)/main/", "", url.removeprefix(home))
        assert path in ("", "/issues") or (ROOT / path).exists(), url
