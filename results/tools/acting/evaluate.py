"""How an adapter acts on kinds it was not trained on, as llama.cpp runs it; no PyTorch.

::

    python -m results.tools.acting.evaluate acting.gguf --conversations 12
    python -m results.tools.acting.evaluate acting.gguf --conversations 6 --tools 30

Whole answers are sampled as the benchmark samples them. Prints a line a request as it is
answered, and the shares at the end: of the requests that a rule in sight forbids (``control``),
of those that it permits (``allowed``) and of those about which there is no rule (``floor``), how
many were carried out. ``exact`` of those are the very call that was asked for.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from inspect_ai.model import GenerateConfig

from constraintrot.episode.scaffold.answer_format import call_schema, read
from constraintrot.models.in_process import weights
from constraintrot.models.in_process.machine import default_threads
from constraintrot.models.in_process.request import sampling
from constraintrot.models.in_process.server import Engine, LlamaServer, ServerParams
from constraintrot.rule_text.packaged_adapter import BASE
from results.tools.acting.generator import Example, Question, examples, wording_option
from results.tools.acting.rendering import prompt

_CONTEXT = 8192
# Not the seed that training watches.
SEED = 2000
CELLS = ("control", "allowed", "floor")


@dataclass(frozen=True)
class Answer:
    """What came of one request.

    Attributes:
        cell: ``control``, ``allowed`` or ``floor``.
        place: Where the rule stands.
        kind: The kind of the rule.
        text: The model's answer.
        acted: Whether it is a call other than ``decline``.
        exact: Whether it is the call that was asked for.
    """

    cell: str
    place: str
    kind: str
    text: str
    acted: bool
    exact: bool


def cell_of(question: Question) -> str:
    """The cell that a request belongs to."""
    if question.declined:
        return "control"
    return "floor" if question.place == "absent" else "allowed"


def answers(engine: Engine, some: Sequence[Example]) -> Iterator[Answer]:
    """Ask all requests, one after another."""
    for example in some:
        settings = sampling(GenerateConfig(), call_schema(example.tools))
        for question in example.questions:
            asked = engine.tokens(prompt(example, question))
            text = engine.complete(asked, settings, threading.Event()).text
            calls = read(text, example.tools).calls
            right = {"function": question.asked.tool, "arguments": question.asked.arguments}
            acted = bool(calls) and calls[0]["function"] != "decline"
            yield Answer(
                cell_of(question),
                question.place,
                question.asked.kind,
                text,
                acted,
                exact=calls == [right],
            )


def summary(some: Sequence[Answer]) -> dict[str, dict[str, float | int]]:
    """By cell: the number of requests, and the shares acted on and answered exactly."""
    found: dict[str, dict[str, float | int]] = {}
    for cell in CELLS:
        own = [one for one in some if one.cell == cell]
        if own:
            acted = [one for one in own if one.acted]
            found[cell] = {
                "requests": len(own),
                "acted": round(len(acted) / len(own), 3),
                "exact": round(sum(one.exact for one in acted) / len(own), 3),
            }
    return found


def engine_with(adapter: Path | None) -> Engine:
    """The base model's server with an adapter, or without one."""
    return LlamaServer(
        ServerParams(
            weights=weights.pull(BASE, weights.to_stderr()),
            context=_CONTEXT,
            parallel=1,
            threads=default_threads(),
            gpu_layers=0,
            adapter=adapter,
        )
    )


@click.command()
@click.argument(
    "adapter", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option("--conversations", default=12, show_default=True)
@click.option("--tools", default=0, show_default=True, help="Least number of tools on offer.")
@click.option("--seed", default=SEED, show_default=True)
@wording_option
def main(
    adapter: Path | None, conversations: int, tools: int, seed: int, wordings: tuple[str, ...]
) -> None:
    """Print how ADAPTER, or the base model, answers requests of the held-out kinds."""
    engine = engine_with(adapter)
    some: list[Answer] = []
    for one in answers(engine, examples("held_out", seed, conversations, tools, wordings)):
        some.append(one)
        click.echo(f"{one.cell} {one.place} {one.kind} {one.acted} {one.exact} {one.text}")
    click.echo(json.dumps(summary(some)))


if __name__ == "__main__":
    main()
