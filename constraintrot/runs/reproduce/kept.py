"""The files from which a page can be made again without the logs.

A page writes its episodes and the facts of the play next to itself. These, the registration and
the qualification are committed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
from inspect_ai.hooks import Hooks, ModelUsageData, hooks
from pydantic import ValidationError

from constraintrot import files
from constraintrot.documents import json_data, read_text
from constraintrot.errors import ConstraintRotError
from constraintrot.report.page import design, frames
from constraintrot.report.planned import planned_episodes
from constraintrot.runs.prices import Price, Prices, price_of, usage_cost
from constraintrot.runs.reproduce.registration import Registration, code
from constraintrot.strict import Strict

FILE = "usage.jsonl"


class Meter:
    """The usage of all runs of a folder, earlier ones too.

    Attributes:
        dollars: the cost of the calls so far; calls of a model without a price cost nothing.
    """

    def __init__(self, folder: Path, prices: Prices) -> None:
        """Read what earlier runs wrote; a line that a kill cut off is skipped."""
        self._path, self._prices = folder / FILE, prices
        self.dollars = 0.0
        self.calls = 0
        # What ends a line that a kill cut off, before the next one is written.
        self._break = ""
        if self._path.is_file():
            text = self._path.read_text(encoding="utf-8")
            self._break = "\n" if text and not text.endswith("\n") else ""
            for line in text.splitlines():
                try:
                    told = json.loads(line)
                except ValueError:
                    continue
                self._add(str(told["model"]), told["usage"])

    def write(self, model: str, usage: Mapping[str, int | None]) -> None:
        """Record one call, or an estimate if a provider reports no usage."""
        line = {"time": round(time.time(), 3), "model": model, "usage": dict(usage)}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{self._break}{json.dumps(line)}\n")
        self._break = ""
        self._add(model, usage)

    def __enter__(self) -> Meter:
        _Listener.meter = self
        return self

    def __exit__(self, *error: object) -> None:
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


EPISODES, FACTS, LOGS = "episodes.csv", "played.json", "logs"
DONE = "done"
# A folder may be a stranger's; a frame of 100,000 episodes is smaller.
MOST_BYTES = 64_000_000


class Played(Strict):
    """The played part of a registration.

    Attributes:
        code: version and digest of the code that played them; if several, joined by commas.
    """

    evaluations: tuple[str, ...]
    dollars: float
    code: dict[str, str]


def has_logs(folder: Path) -> bool:
    return (folder / LOGS).is_dir()


def played(registration: Registration, folder: Path) -> Played:
    """Return what was played, from the logs, or from the file if there are no logs."""
    path = folder / FACTS
    if has_logs(folder) or not (path.exists() or (folder / EPISODES).exists()):
        done = sorted((folder / LOGS).glob(f"*/{DONE}"))
        dollars = Meter(folder, registration.prices).dollars
        names = tuple(one.parent.name for one in done)
        return Played(evaluations=names, dollars=dollars, code=_code_of(done))
    try:
        return Played.model_validate_json(read_text(path, MOST_BYTES, ConstraintRotError))
    except ValidationError as error:
        first = error.errors()[0]
        why = f"{'.'.join(map(str, first['loc']))} {first['msg']}".strip()
        raise ConstraintRotError(
            f"{path} does not say what was played ({why}); take the file that was written with"
            " this folder's page"
        ) from error


def finish(logs: Path) -> None:
    """Record that an evaluation is finished, and the code that played it."""
    replace(logs / DONE, json.dumps(code()) + "\n")


def _code_of(done: Sequence[Path]) -> dict[str, str]:
    """Return the code of some evaluations; today's for one without a record."""
    today = code()
    texts = [read_text(one, MOST_BYTES, ConstraintRotError) for one in done]
    told = [
        json_data(text, str(one), ConstraintRotError) if text else today
        for one, text in zip(done, texts, strict=True)
    ]
    if not all(isinstance(one, dict) for one in told):
        raise ConstraintRotError(f"a file {DONE} of {done[0].parent.parent} says no code")
    every = told or [today]
    return {
        name: ", ".join(dict.fromkeys(str(one.get(name, "unknown")) for one in every))
        for name in today
    }


def logged(logs: Path) -> pd.DataFrame:
    return frames.tidy(planned_episodes([logs]))


def raw(folder: Path) -> pd.DataFrame:
    if has_logs(folder):
        return logged(folder / LOGS)
    path = folder / EPISODES
    try:
        data = files.contents(path, MOST_BYTES, ConstraintRotError, links=True)
    except ConstraintRotError as error:
        raise ConstraintRotError(f"{path} is no readable frame: {error}") from error
    return frames.read(str(path), data)


def episodes(folder: Path) -> pd.DataFrame:
    return design.prepared(raw(folder))


def write(registration: Registration, folder: Path) -> None:
    if has_logs(folder):
        facts = played(registration, folder).model_dump_json(indent=1) + "\n"
        replace(folder / FACTS, facts)
        replace(folder / EPISODES, frames.csv_text(raw(folder)))


def replace(path: Path, text: str) -> None:
    """Write a file at once; a link in its place, which a stranger may have set, is refused."""
    files.replace(path, text.encode("utf-8", "backslashreplace"), ConstraintRotError, mode=None)
