"""What the tests of the pins share: pins, a model, a forgetful strategy, a conversation."""

import asyncio
from collections.abc import Sequence

from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    CompactionStrategy,
    GenerateConfig,
    Model,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    compaction,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from tests.harnesses.messages import said, system, user
from tests.harnesses.rules import FIRST_USER
from tests.harnesses.rules import rules as rules

POLICY = FIRST_USER

SECOND = "Never delete a table in production."


@modelapi(name="merging")
class Merging(ModelAPI):
    """Answers by a rule of the transcript; its provider may take no two users in a row."""

    def __init__(self, merges: bool, calls: int = 0) -> None:
        super().__init__("merging", config=GenerateConfig())
        self.merges = merges
        self.calls = calls
        self.seen: list[list[ChatMessage]] = []
        self.inputs: list[list[ChatMessage]] = []

    def collapse_user_messages(self) -> bool:
        return self.merges

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        self.inputs.append(list(input))
        if not tools:
            output = ModelOutput.from_content("merging", "Some work was done.")
        else:
            self.seen.append(list(input))
            done = len(self.seen) > self.calls
            name, arguments = ("submit", {"answer": "done"}) if done else ("look", {"at": "x"})
            output = ModelOutput.for_tool_call("merging", name, arguments)
        sent = sum(len(message.text) // 4 for message in input)
        output.usage = ModelUsage(input_tokens=sent, output_tokens=1, total_tokens=sent + 1)
        return output

    async def count_text_tokens(self, text: str) -> int:
        return len(text) // 4


class Forgetting(CompactionStrategy):
    """Keeps system and input messages and writes a summary that holds nothing but what it says."""

    def __init__(self, threshold: int | float = 100_000, says: str = "Summary {}.") -> None:
        super().__init__(type="summary", threshold=threshold)
        self.says = says
        self.shown: list[list[ChatMessage]] = []

    async def compact(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> tuple[list[ChatMessage], ChatMessageUser | None]:
        self.shown.append(list(messages))
        kept: list[ChatMessage] = [m for m in messages if m.role == "system" or m.source == "input"]
        text = self.says.format(len(self.shown))
        summary = ChatMessageUser(content=text, metadata={"summary": True})
        return [*kept, summary], summary


def opening() -> list[ChatMessage]:
    return [
        system("You are an agent.", id="s"),
        user("Work.", id="u", source="input"),
    ]


def turn(number: int, text: str = "more work") -> list[ChatMessage]:
    return [
        user(f"{text} {number}", id=f"u{number}"),
        said("done", id=f"a{number}"),
    ]


def play(
    strategy: CompactionStrategy, rounds: int, merges: bool, first: Sequence[ChatMessage] = ()
) -> list[list[ChatMessage]]:
    """The contexts after each of several compactions, through Inspect's own handler."""

    async def go() -> list[list[ChatMessage]]:
        model = Model(Merging(merges), GenerateConfig())
        handler = compaction(strategy, prefix=opening(), tools=None, model=model)
        history, contexts = [*opening(), *first], list[list[ChatMessage]]()
        for number in range(rounds):
            history += turn(number)
            context, extra = await handler.compact_input(history, force=True)
            if extra is not None:
                history.append(extra)
            contexts.append(context)
        return contexts

    return asyncio.run(go())


def whole(context: Sequence[ChatMessage]) -> str:
    return "\n".join(message.text for message in context)
