"""The real usage of models, written down call by call, and what it costs."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path

from inspect_ai.hooks import Hooks, ModelUsageData, hooks

from constraintrot.runs.prices import Price, Prices, price_of, usage_cost

FILE = "usage.jsonl"


class Meter:
    """The usage of a folder's runs, those before this one too.

    Attributes:
        dollars: what the calls so far cost; of a model without a price, nothing.
    """

    def __init__(self, folder: Path, prices: Prices) -> None:
        """Read what earlier runs wrote down; a line that a kill cut off is left out."""
        self._path, self._prices = folder / FILE, prices
        self.dollars = 0.0
        self.calls = 0
        if self._path.is_file():
            for line in self._path.read_text(encoding="utf-8").splitlines():
                try:
                    told = json.loads(line)
                except ValueError:
                    continue
                self._add(str(told["model"]), told["usage"])

    def write(self, model: str, usage: Mapping[str, int | None]) -> None:
        """Write down one call, or an estimate where a provider reports no usage."""
        line = {"time": round(time.time(), 3), "model": model, "usage": dict(usage)}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        self._add(model, usage)

    def __enter__(self) -> Meter:
        """Begin to listen to Inspect's model calls."""
        _Listener.meter = self
        return self

    def __exit__(self, *error: object) -> None:
        """Listen no longer."""
        _Listener.meter = None

    def _add(self, model: str, usage: Mapping[str, int | None]) -> None:
        price: Price | None = price_of(model, self._prices)
        self.calls += 1
        self.dollars += usage_cost(price, usage) if price else 0.0


@hooks(name="constraintrot_meter", description="What a reproduction's model calls cost.")
class _Listener(Hooks):
    meter: Meter | None = None

    def enabled(self) -> bool:
        return _Listener.meter is not None

    async def on_model_usage(self, data: ModelUsageData) -> None:
        if _Listener.meter is not None:
            _Listener.meter.write(data.model_name, data.usage.model_dump(exclude_none=True))
