"""How well a small model finds the one rule of a conversation, asked in two ways; tuning only.

::

    python -m results.tools.rule_judge.recall --contexts 18

The conversations are those of the benchmark's tuning split, with a rule of the judge's
training kinds in the policy's place, so nothing here comes from what is measured. Asked
``by passage``, the model gives odds to each passage, and the rule is found if it is among
the likeliest four; asked of the ``whole``, it lists the rules, and the rule is found if what
it lists has its ground there. Prints a line a conversation, then both rates.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from dataclasses import replace

import click
from inspect_ai.model import ChatMessage, Model, get_model

from constraintrot.episode.messages import as_chat
from constraintrot.episode.scaffold.grounding import content_words, ground
from constraintrot.episode.scaffold.review import read_recall
from constraintrot.episode.staging import stage
from constraintrot.evaluation.probe import rules_given
from constraintrot.harnesses.review import recall
from constraintrot.scenario.files import catalogue, load
from results.tools.rule_judge.generator import examples

_SEED = 93
# Share of the rule's content words in a window that counts as the rule.
_FOUND = 0.6


def contexts(count: int) -> Iterator[tuple[str, str, list[ChatMessage]]]:
    """Kind, rule and conversation; each kind and each variant at most once."""
    rng = random.Random(_SEED)
    rules = {
        one.kind: one.rule
        for one in examples("train", _SEED, 400)
        if one.locale == "en" and one.breaks
    }
    kinds = rng.sample(sorted(rules), len(rules))
    families = sorted(catalogue())
    for at, kind in zip(range(count), kinds, strict=False):
        seed = _SEED + at // len(families)
        variant = load(families[at % len(families)], "en").variant(seed, "tuning", texts=1)
        staged = stage(variant, policy=True, context_tokens=300, exercised=2)
        turns = [
            replace(
                turn,
                messages=tuple(
                    replace(one, text=one.text.replace(staged.policy, rules[kind]))
                    for one in turn.messages
                ),
            )
            for turn in staged.turns
        ]
        messages = as_chat(turns[:-1], start=0)
        yield kind, rules[kind], messages


def holds(rule: str, found: list[str]) -> bool:
    """Whether one of the texts is the rule."""
    wanted = content_words(rule)
    return any(len(content_words(text) & wanted) >= _FOUND * len(wanted) for text in found)


async def compare(model: Model, count: int) -> list[tuple[bool, bool]]:
    """Whether the rule was found by passage, and in the whole, of each conversation."""
    came_out: list[tuple[bool, bool]] = []
    for kind, rule, messages in contexts(count):
        given = [one.text for one in messages if one.role != "assistant"]
        by_passage = await recall(model, messages, given, "en", [])
        listed = read_recall(await rules_given(model, messages, "en"))
        whole = [one.text for one in ground(listed, given)]
        came_out.append((holds(rule, list(by_passage.rules)), holds(rule, whole)))
        click.echo(f"{kind}: by passage {came_out[-1][0]}, whole {came_out[-1][1]}")
    return came_out


@click.command()
@click.option("--model", default="local/qwen2.5-coder-1.5b", show_default=True)
@click.option("--contexts", "count", type=click.IntRange(1, 54), default=18, show_default=True)
def main(model: str, count: int) -> None:
    """Print how often the rule is found, asked by passage and of the whole conversation."""
    came_out = asyncio.run(compare(get_model(model), count))
    for at, name in enumerate(("by passage", "of the whole")):
        click.echo(f"{name}: {sum(one[at] for one in came_out)} of {len(came_out)}")


if __name__ == "__main__":
    main()
