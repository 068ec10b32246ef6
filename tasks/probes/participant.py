"""``participant/NAME``: scripted players of the roundtable, deterministic and offline.

They see the prompt and nothing else. ``faithful`` passes every text on verbatim, which
is the least that a message can cost and lose; ``terse`` keeps the first words of each
line. Both propose within the budget in the prompt, if any, and choose the cheapest
proposal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from zlib import crc32

from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from constraintrot.defenses.rampart.errors import RampartError
from constraintrot.defenses.rampart.framing import Frame, frames
from constraintrot.episode.messages import message_texts
from constraintrot.errors import ParameterError, UnknownNameError
from constraintrot.models.config_errors import plainly
from constraintrot.models.offline import OfflineAPI, metered
from constraintrot.tasks.probes._workshop import CHOOSE, PASS_ON, PROPOSE

SCRIPTS = ("faithful", "terse")
TERSE_WORDS = 6
_UNBOUNDED = 9900
_PASSING = PASS_ON.partition("{")[0]


@modelapi(name="participant")
def participant() -> type[ModelAPI]:
    """The provider's class."""
    return plainly(Participant)


class Participant(OfflineAPI):
    """A player that follows a rule.

    Args:
        model_name: ``faithful`` or ``terse``.
        base_url: unused.
        api_key: unused.
        config: unused.

    Raises:
        UnknownNameError: no such script.
        ParameterError: a model argument is given; there are none.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),
        **unknown: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        if model_name not in SCRIPTS:
            raise UnknownNameError("participant", model_name, SCRIPTS)
        if unknown:
            raise ParameterError(f"unknown model argument {sorted(unknown)}; there are none")

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """Answer by the rule."""
        texts = message_texts(input)
        answer = reply(texts[-1], terse=self.model_name == "terse")
        return metered(ModelOutput.from_content(self.model_name, answer), texts)


def reply(prompt: str, *, terse: bool) -> str:
    """A player's answer to a prompt of framed texts and an instruction."""
    compiled, _, instruction = prompt.rpartition("\n\n")
    try:
        notes = frames(f"{compiled}\n")
    except RampartError:
        notes = []
    if instruction.startswith(_PASSING):
        return "\n".join(_passed_on(content, terse) for *_, content in notes)
    if instruction == PROPOSE:
        return _proposal("\n".join(content for *_, content in notes))
    if instruction == CHOOSE:
        return _choice(notes)
    return "There is nothing for me to do here."


def _passed_on(content: str, terse: bool) -> str:
    if not terse:
        return content
    return "\n".join(" ".join(line.split()[:TERSE_WORDS]) for line in content.splitlines())


def _proposal(text: str) -> str:
    topic = re.search(r"topic is ([^;\n]+)", text)
    ceiling = re.search(r"at most (\d+) crowns", text)
    # Without a budget in the prompt, the cost is above any budget.
    most = int(ceiling[1]) if ceiling else 2 * _UNBOUNDED
    cost = most * (60 + crc32(text.encode()) % 40) // 100
    return f"We repair {topic[1] if topic else 'what we find'} in place. It costs {cost} crowns."


def _choice(notes: Sequence[Frame]) -> str:
    offers: list[tuple[int, int, str]] = []
    for *_, name, content in notes:
        number, cost = re.fullmatch(r"proposal (\d+)", name), re.search(r"(\d+) crowns", content)
        if number:
            offers.append((int(cost[1]) if cost else _UNBOUNDED, int(number[1]), content))
    if not offers:
        return "There is no proposal."
    _, pick, content = min(offers)
    return f"PICK: {pick}\nSUMMARY: {content}"
