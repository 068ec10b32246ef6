"""Scripted players of the roundtable, deterministic and offline.

They see the prompt and nothing else. ``faithful`` passes every text on verbatim, which
is the least that a message can cost and lose; ``terse`` keeps the first words of each
line. Both propose within the budget in the prompt, if any, and choose the cheapest
proposal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from zlib import crc32

from inspect_ai.model import ChatMessage, Model, ModelOutput, get_model

from constraintrot.defenses.rampart.errors import RampartError
from constraintrot.defenses.rampart.framing import Frame, frames
from constraintrot.episode.messages import message_texts
from constraintrot.models.offline import metered
from results.tools.roundtable.workshop import CHOOSE, PASS_ON, PROPOSE

SCRIPTS = ("faithful", "terse")
TERSE_WORDS = 6
_UNBOUNDED = 9900
_PASSING = PASS_ON.partition("{")[0]


def participant(script: str) -> Model:
    """Return a player that follows a script."""

    def answer(messages: list[ChatMessage], *_: object) -> ModelOutput:
        texts = message_texts(messages)
        said = reply(texts[-1], terse=script == "terse")
        return metered(ModelOutput.from_content("mockllm/model", said), texts)

    return get_model("mockllm/model", custom_outputs=answer, memoize=False)


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
