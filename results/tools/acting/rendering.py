"""An example as the model in this process is shown it, and the right answer as it would write it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from constraintrot.episode.scaffold.answer_format import render_call
from constraintrot.episode.scaffold.instructions import instructions
from constraintrot.models.in_process.prompt import Prompt, render_prompt
from results.tools.acting.generator import Example, Question, Said

INSTRUCTION = "\n\n" + instructions("direct", "en")


def prompt(example: Example, question: Question) -> Prompt:
    """The prompt of one request, in the scaffold ``direct``."""
    asked = Said("user", question.asked.text + INSTRUCTION)
    # Inspect is not installed where the adapter is trained.
    messages: list[Any] = [_message(said) for said in (*example.messages, asked)]
    return render_prompt(messages, example.tools)


def answer(question: Question) -> str:
    """The right answer to a request."""
    if question.declined:
        return render_call("decline", {"reason": question.reason})
    return render_call(question.asked.tool, question.asked.arguments)


def _message(said: Said) -> SimpleNamespace:
    calls = [SimpleNamespace(function=said.tool, arguments=said.arguments)] if said.tool else []
    return SimpleNamespace(role=said.role, content=said.text, tool_calls=calls, error=None)
