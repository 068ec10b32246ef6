"""The time that the reader takes for some rules over one text, on this machine.

::

    python -m results.tools.rule_reader.cost

The text is of summaries of the generator. Weights are loaded and one short question is answered first;
no answer comes from a cache.
"""

from __future__ import annotations

import asyncio
import os
import time

import click

from constraintrot.evaluation.readers import local
from constraintrot.models.in_process.machine import default_threads
from constraintrot.rule_text.reader import Rule
from constraintrot.tokens import count
from results.tools.rule_reader.written import cards, examples


def made(tokens: int, rules: int) -> tuple[str, list[Rule]]:
    """A text of about so many tokens, and rules to ask about."""
    found, text = iter(examples("train", 7, 400)), ""
    while count(text) < tokens:
        example = next(found)
        if example.locale == "en" and example.task == "state":
            text += f"\n\n{example.text}"
    asked = [given for card in cards("en", "train").values() for given in card["given"][:1]]
    return text.strip(), [Rule(given) for given in asked[:rules]]


async def _measure(tokens: int, rules: int) -> str:
    text, asked = made(tokens, rules)
    reader = local(cache=False)
    await reader.states([Rule("Never feed the ducks.")], ["Ducks are fed at noon."])
    load, began, cpu = os.getloadavg()[0], time.perf_counter(), time.process_time()
    await reader.states(asked, [text])
    wall, spent = time.perf_counter() - began, time.process_time() - cpu
    return (
        f"{rules} rules over {len(text)} characters (about {count(text)} tokens),"
        f" {default_threads()} threads: {wall:.0f} s, {spent:.0f} CPU seconds;"
        f" load before {load:.1f}"
    )


@click.command()
@click.option("--tokens", default=1500, show_default=True)
@click.option("--rules", default=20, show_default=True)
@click.option("--runs", default=1, show_default=True)
def main(tokens: int, rules: int, runs: int) -> None:
    """Print the seconds."""
    for _ in range(runs):
        click.echo(asyncio.run(_measure(tokens, rules)))


if __name__ == "__main__":
    main()
