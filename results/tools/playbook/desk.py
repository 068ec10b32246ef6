"""A small task with feedback on which adaptation must pay: a desk with picky tools.

Each request names a value in plain words, and each tool takes it in one form only, which no
description says. A call in another form fails with an error that says the form. Whoever
remembers it succeeds at the next request to that tool, with other values.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    GenerateConfig,
    Model,
)

from constraintrot.memory.playbook.adaptation import Trajectory
from constraintrot.memory.playbook.delta import json_values
from constraintrot.models.scripted.roles import ROLES, Question, Role

VALUES: Final = 12
TRAINING: Final = 4
"""Values of each tool that are for training; the others are for the test."""
OPENING: Final = "You work at a desk with tools that each take one argument."
_PROMPT: Final = """{opening} Tools: {tools}.
{memory}Request: {request}
Answer with one JSON object and nothing else: {{"tool": "...", "argument": "..."}}"""
_MEMORY: Final = "What is known from earlier work:\n{memory}\n"


@dataclass(frozen=True)
class Tool:
    """A tool of the desk.

    Attributes:
        name: of the tool.
        request: with ``{value}``.
        plain: the value of a number as people say it.
        exact: the same as the tool takes it.
        form: what its error says.
    """

    name: str
    request: str
    plain: Callable[[int], str]
    exact: Callable[[int], str]
    form: str


@dataclass(frozen=True)
class Request:
    """A task: a request to one tool."""

    tool: Tool
    number: int

    @property
    def text(self) -> str:
        """The user's words."""
        return self.tool.request.format(value=self.tool.plain(self.number))


_MONTHS = ("January", "March", "May", "July")
_WORDS = ("annual report", "room plan", "price list", "travel costs")
_CITIES = ("oslo", "lima", "riga", "bern")
TOOLS: Final = (
    Tool(
        "book_room", "Book the large room for {value}.",
        lambda n: f"{n + 3} {_MONTHS[n % 4]} 2026",
        lambda n: f"2026-{2 * (n % 4) + 1:02}-{n + 3:02}", "takes a date as YYYY-MM-DD",
    ),
    Tool(
        "pay_invoice", "Pay the invoice of {value}.",
        lambda n: f"{17 * n + 12} dollars", lambda n: str(100 * (17 * n + 12)),
        "takes an amount as whole cents, digits alone",
    ),
    Tool(
        "set_alarm", "Set the alarm for {value}.",
        lambda n: f"{n % 11 + 1}:{5 * n % 60:02} pm", lambda n: f"{n % 11 + 13}:{5 * n % 60:02}",
        "takes a time of 24 hours as HH:MM",
    ),
    Tool(
        "ship_parcel", "Ship the parcel of {value}.",
        lambda n: f"{n + 2} kg", lambda n: str(1000 * (n + 2)),
        "takes a weight as grams, digits alone",
    ),
    Tool(
        "name_file", "Name the new file '{value}'.",
        lambda n: f"{_WORDS[n % 4].title()} {n + 20}",
        lambda n: f"{_WORDS[n % 4]} {n + 20}".replace(" ", "_"), "takes a name in snake_case",
    ),
    Tool(
        "open_door", "Open door {value}.",
        lambda n: f"{n + 4} on floor {n % 5 + 1}", lambda n: f"F{n % 5 + 1}-D{n + 4:02}",
        "takes a door as F<floor>-D<two digits>",
    ),
    Tool(
        "find_train", "Find a train to {value}.",
        lambda n: f"{_CITIES[n % 4].title()} on platform {n + 1}",
        lambda n: f"{_CITIES[n % 4].upper()}/{n + 1}", "takes a goal as CITY/<platform>, in capitals",
    ),
    Tool(
        "dim_light", "Dim the light to {value}.",
        lambda n: f"{5 * n + 15} per cent", lambda n: f"0.{5 * n + 15:02}",
        "takes a level as a decimal fraction with two digits",
    ),
)  # fmt: skip


def requests(*, test: bool) -> list[Request]:
    """Return the requests of one split, tool by tool in turn; the splits share no value."""
    numbers = range(TRAINING, VALUES) if test else range(TRAINING)
    return [Request(tool, number) for number in numbers for tool in TOOLS]


def question(request: Request, memory: str) -> str:
    """Return the Generator's prompt."""
    return _PROMPT.format(
        opening=OPENING, tools=", ".join(tool.name for tool in TOOLS), request=request.text,
        memory=_MEMORY.format(memory=memory.strip()) if memory.strip() else "",
    )  # fmt: skip


def judged(request: Request, answer: str) -> tuple[bool, str]:
    """Return whether an answer does what was requested, and what the environment says."""
    called: dict[str, Any] = next((v for v in json_values(answer) if isinstance(v, dict)), {})
    if called.get("tool") != request.tool.name:
        return False, f"error: no tool that fits was called, {request.tool.name} does"
    if str(called.get("argument")) != request.tool.exact(request.number):
        return False, f"error: {request.tool.name} {request.tool.form}"
    return True, "ok"


def play(generator: Model) -> Callable[[Request, str], Any]:
    """Return a function that has a Generator do a request, for ``adaptation``.

    Args:
        generator: the model of that role.
    """

    async def done(request: Request, memory: str) -> Trajectory:
        prompt = question(request, memory)
        output = await generator.generate(
            [ChatMessageUser(content=prompt)], config=GenerateConfig(max_tokens=120)
        )
        success, said = judged(request, output.completion)
        # The memory is not part of what is reflected on: it is shown beside it.
        messages: tuple[ChatMessage, ...] = (
            ChatMessageUser(content=f"Request: {request.text}"),
            ChatMessageAssistant(content=output.completion),
            ChatMessageUser(content=f"Environment: {said}"),
        )
        return Trajectory(messages, said, success)

    return done


def _answer(question: Question) -> str:
    """Answer as a scripted Generator: in the exact form if the memory says it, else in the plain."""
    requested = (one for test in (False, True) for one in requests(test=test))
    request = next(one for one in requested if f"Request: {one.text}" in question.text)
    tool = request.tool
    knows = f"{tool.name} {tool.form}" in question.text
    argument = (tool.exact if knows else tool.plain)(request.number)
    return json.dumps({"tool": tool.name, "argument": argument})


ROLES("desk")(Role(lambda text: text.startswith(OPENING), _answer))
