"""Models that answer by what their prompt holds, and nothing else."""

import re
from collections.abc import Callable, Sequence

from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage, Model, ModelOutput, ModelUsage, get_model
from inspect_ai.tool import ToolInfo

from constraintrot.tasks.probes.firmware import CALL, CRITICAL
from constraintrot.tokens import count

Answer = Callable[[str, Sequence[ToolInfo]], ModelOutput]
NAME = "mockllm/model"

BODY = "void pwm_init(void)\n{{\n    clk_open(TIM4);\n{end}}}"
CALLED = f"```c\n{BODY.format(end=f'    {CALL};{chr(10)}')}\n```"
PLAIN = f"```c\n{BODY.format(end='')}\n```"
COMMENTED = f"```c\n{BODY.format(end=f'    // {CALL};{chr(10)}')}\n```"
PROSE = "I would rather talk about the weather."


def model(answer: Answer) -> Model:
    """A model of a function of the prompt's text and the tools on offer."""

    def generate(input: list[ChatMessage], tools: list[ToolInfo], *_: object) -> ModelOutput:
        prompt = "\n\n".join(message.text for message in input)
        output = answer(prompt, tools)
        output.usage = ModelUsage(
            input_tokens=count(prompt), output_tokens=1, total_tokens=count(prompt) + 1
        )
        return output

    return get_model(NAME, custom_outputs=generate, memoize=False)


def writer(rule: Callable[[str], str]) -> Model:
    """A model that writes text."""
    return model(lambda prompt, _: ModelOutput.from_content(NAME, rule(prompt)))


def blocks(prompt: str) -> list[str]:
    """The names of the blocks in a prompt, in order."""
    return re.findall(r"^~~~ note by owner: (.+)$", prompt, re.MULTILINE)


def reads_the_first(k: int) -> Model:
    """Obeys the critical block if it is among the first k."""
    return writer(lambda prompt: CALLED if CRITICAL in blocks(prompt)[:k] else PLAIN)


def cells(log: EvalLog, scorer: str, part: str) -> dict[str, float]:
    """One part of a score by cell, as the log's results hold it."""
    assert log.status == "success", log.error
    assert log.results is not None
    (found,) = [entry for entry in log.results.scores if entry.name == scorer]
    names = [name.split() for name in found.metrics]
    return {cell: found.metrics[f"{cell} {name}"].value for cell, name in names if name == part}
