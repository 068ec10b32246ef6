"""The estimate before a run: a line with calls, tokens, dollars and time; a question if it is long.

Dollars are from LiteLLM's table of prices. For a model in this process, time is from the rates
at which it reads and writes on this machine; they are measured once and kept.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import anyio
import click
from inspect_ai.model import GenerateConfig, get_model

from constraintrot import files
from constraintrot.command_line import at_terminal
from constraintrot.errors import ConstraintRotError
from constraintrot.models.downloads import cache_folder
from constraintrot.models.in_process import catalogue, weights
from constraintrot.runs.plan import Size, between, millions
from constraintrot.runs.prices import Prices, cost

LOCAL = "local/"
RATES = "rates.json"
# From these numbers on, a person at a terminal is asked first.
LONG_SECONDS, LONG_DOLLARS = 600.0, 1.0
_READ_WORDS, _WRITTEN_TOKENS = 300, 24


@dataclass(frozen=True)
class Rate:
    """The tokens that a model reads and writes per second on this machine."""

    read: float
    written: float

    def seconds(self, size: Size) -> tuple[float, float]:
        """Return the fewest and the most seconds of a run; cached tokens are not read again."""
        (low, high), (_, cached) = size.input_tokens, size.cached_tokens
        fewest, most = size.output_tokens
        return low / self.read + fewest / self.written, (high - cached) / self.read + (
            most / self.written
        )


def before(sizes: Mapping[str, Size], *, yes: bool, prices: Prices | None = None) -> None:
    """Print the estimate for each agent's model; at a terminal, ask before a long or unpriced run.

    Prices are as ``prices.cost`` takes them; LiteLLM's table by default.
    """
    if told(sizes, prices) and not yes and at_terminal():
        click.confirm("Play it?", default=True, abort=True, err=True)


def told(sizes: Mapping[str, Size], prices: Prices | None = None) -> bool:
    """Print the estimate of a run; return whether it is long or its price unknown."""
    long = False
    for model, size in sizes.items():
        dollars, seconds = cost(model, size, prices or {}), _seconds(model, size)
        click.echo(line(model, size, dollars, seconds), err=True)
        long |= dollars is None or dollars[1] >= LONG_DOLLARS
        long |= seconds is not None and seconds[1] >= LONG_SECONDS
    return long


def line(
    model: str,
    size: Size,
    dollars: tuple[float, float] | None,
    seconds: tuple[float, float] | None,
) -> str:
    """Return the estimate of a model's calls.

    Dollars and seconds are each (fewest, most), or None without a price or a measurement.
    """
    priced = "no price known" if dollars is None else f"$ {between(*dollars, digits=2)}"
    played = f"{size.episodes:,} episodes, " if size.episodes else ""
    text = (
        f"Estimate for {model}: {played}at most {size.requests:,} model calls,"
        f" {millions(size.input_tokens)} M tokens in, {millions(size.output_tokens)} M out,"
        f" {priced}"
    )
    if seconds is None:
        return f"{text}."
    low, high = (one / 60 for one in seconds)
    return f"{text}, {between(low, high, digits=0)} minutes on this machine."


def _seconds(model: str, size: Size) -> tuple[float, float] | None:
    rate = rate_of(model) if model.startswith(LOCAL) else None
    return rate.seconds(size) if rate else None


def rate_of(model: str) -> Rate | None:
    """Return a local model's rate, measured now if needed; None if it has no weights here."""
    # An adapter hardly changes the speed of its model; weights outside the catalogue have no rate.
    model = LOCAL + (name := catalogue.base(model.removeprefix(LOCAL)))
    if name not in catalogue.names():
        return None
    path = cache_folder() / RATES
    try:
        known: dict[str, dict[str, float]] = json.loads(path.read_text(encoding="utf-8"))
        return Rate(**known[model])
    except (OSError, ValueError, KeyError, TypeError):
        known = {}
    if weights.path(name) is None:
        return None
    rate = _measured(model)
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write(path, json.dumps({**known, model: asdict(rate)}), ConstraintRotError)
    return rate


def _measured(model: str) -> Rate:
    """Measure the rates of a model by two short calls, after one that loads it."""
    asked = get_model(model, memoize=True)
    words = " ".join(f"word{number}" for number in range(_READ_WORDS))

    async def call(text: str, most: int) -> tuple[float, int, int]:
        began = time.monotonic()
        output = await asked.generate(text, config=GenerateConfig(max_tokens=most))
        usage = output.usage
        spent = time.monotonic() - began
        return spent, usage.input_tokens if usage else 1, usage.output_tokens if usage else 1

    async def both() -> Rate:
        await call("Hello", 1)  # This loads the weights.
        reading, read, _ = await call(words, 1)
        writing, _, written = await call("Count to one hundred, in words.", _WRITTEN_TOKENS)
        return Rate(max(1, read) / reading, max(1, written) / writing)

    return anyio.run(both)
