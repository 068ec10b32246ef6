"""The commands of the docs in this process, with something in the place of what a test has not."""

import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from inspect_ai._cli.eval import eval_command

from tests.invoked import invoked

SCRIPTED = "scripted/obedient"
# Providers that a stub of OpenAI's protocol on loopback stands in for, and what tells them of it.
SERVED = {
    "openai/": ("OPENAI_BASE_URL", "OPENAI_API_KEY"),
    "openai-api/llama/": ("LLAMA_BASE_URL", "LLAMA_API_KEY"),
    "ollama/": ("OLLAMA_BASE_URL", "OLLAMA_API_KEY"),
}
_ASSIGNED = re.compile(r"(?:export )?([A-Z_]+)=(\S+) ?")
# Of these options, an option and its value are left out: they are of the real model or machine.
_OF_THE_MODEL = ("-M", "--max-connections", "--max-tokens", "--max-samples", "--scaffold")
# Tasks with many conditions of their own are played in some of them.
_FEW = {"operator_channel": "compaction,genuine_rescind", "pin_stress": "compaction"}
_SEVERAL = ("suite", "utility", "pin_stress", "operator_channel")


@dataclass
class Line:
    """A command line, taken apart.

    Attributes:
        words: the command and its arguments.
        env: what is set for it, by name.
        given: what it reads on standard input.
        to: the file that its output goes to, if any.
    """

    words: list[str]
    env: dict[str, str] = field(default_factory=dict[str, str])
    given: str = ""
    to: str = ""


def parsed(text: str) -> Line:
    """A line of a console block."""
    text = text.removeprefix("$ ").strip()
    line = Line([])
    while match := _ASSIGNED.match(text):
        line.env[match[1]] = "5" * 64 if match[2].startswith("$(") else match[2]
        text = "" if match[2].startswith("$(") else text[match.end() :]
    if " | " in text:
        before, _, text = text.partition(" | ")
        line.given = shlex.split(before)[1]
    words = [os.path.expanduser(word) for word in shlex.split(text)]
    if ">" in words:
        line.to = words[-1]
        words = words[: words.index(">")]
    line.words = [word for word in words if word != "..."]
    return line


def stands_in(model: str) -> str:
    """What a model is replaced with; itself where it needs nothing."""
    served = model.startswith(tuple(SERVED))
    return model if model.startswith("scripted/") or served else SCRIPTED


def evaluation(words: Sequence[str]) -> list[str]:
    """The arguments of ``inspect eval``, of one short episode a condition."""
    task, given = words[2], list(_options(words[3:]))
    kept = [pair for pair in given if pair[0] not in _OF_THE_MODEL and pair[0] != "--model"]
    model = stands_in({pair[0]: pair[1] for pair in given}.get("--model", SCRIPTED))
    stated = (pair[1].partition("=") for pair in kept if pair[0] == "-T")
    settings = {name: value for name, _, value in stated}
    settings |= {"n": "1"} if "n" in settings else {}
    if "rampart" not in task:
        settings |= {"variants": "1"}
        # What a compactor may write has to be shorter than the history.
        settings.setdefault("context_tokens", "600" if "compactor" in settings else "300")
    for name, few in _FEW.items():
        if task.endswith(name):
            settings.setdefault("conditions", few)
    if task.rpartition("/")[2] in _SEVERAL:
        settings["families"] = "soft_email"
    rest = [word for pair in kept if pair[0] != "-T" for word in _in_role(pair)]
    parameters = [word for name, value in settings.items() for word in ("-T", f"{name}={value}")]
    # The stub speaks the older of OpenAI's two protocols.
    older = ["-M", "responses_api=false"] if model.startswith("openai/") else []
    return [task, "--model", model, *parameters, *rest, *older, "--display", "none"]


def _in_role(pair: tuple[str, ...]) -> tuple[str, ...]:
    """An option, with a model that is here where it gives one a role."""
    if pair[0] != "--model-role":
        return pair
    role, _, model = pair[1].partition("=")
    return pair[0], f"{role}={stands_in(model)}"


def _options(words: Sequence[str]) -> list[tuple[str, ...]]:
    """Options with their values."""
    found: list[tuple[str, ...]] = []
    for word in words:
        if word.startswith("-") and not re.fullmatch(r"-[\d.]+", word):
            found.append((word,))
        elif found:
            found[-1] = (*found[-1], word)
    return [pair if len(pair) > 1 else (*pair, "") for pair in found]


def ours(words: Sequence[str]) -> list[str]:
    """The arguments of ``constraintrot``, with a model that is here."""
    arguments = [stands_in(word) if _is_model(words, at) else word for at, word in enumerate(words)]
    if words[1] == "qualify":
        kept = [pair for pair in _options(arguments[2:]) if pair[0] not in _OF_THE_MODEL]
        flat = [word for pair in kept for word in pair]
        return ["qualify", *flat, "--variants", "1", "--families", "soft_email"]
    if words[1] == "doctor":
        # Its sessions are asked of in the newer of OpenAI's two protocols, which the stub lacks.
        told = [re.sub(r"^openai/", "openai-api/llama/", word) for word in arguments[1:]]
        return [*told, "--yes"]
    if words[1] == "demo":
        return ["demo", "--model", SCRIPTED, "--variants", "1"]
    return arguments[1:]


def _is_model(words: Sequence[str], at: int) -> bool:
    return at > 0 and words[at - 1] == "--model"


def run(line: Line, monkeypatch: pytest.MonkeyPatch) -> Result | None:
    """Run a line; None of one that only sets something."""
    for name, value in line.env.items():
        if name not in {one for pair in SERVED.values() for one in pair}:
            monkeypatch.setenv(name, value)
    if not line.words:
        return None
    if line.words[0] == "echo":
        Path(line.to).write_text(f"{line.words[1]}\n")
        return None
    if line.words[:2] == ["inspect", "eval"]:
        return CliRunner().invoke(eval_command, evaluation(line.words))
    result = invoked(*ours(line.words), input=line.given or "y\n" * 5)
    if line.to:
        Path(line.to).write_text(result.stdout)
    return result
