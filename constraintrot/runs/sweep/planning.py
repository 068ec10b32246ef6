"""The plan of a sweep before it is played: episodes, tokens, hours and cost."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from constraintrot.runs.plan import Size, between, counted, millions
from constraintrot.runs.prices import Prices, cost, longest_name, unknown
from constraintrot.runs.sweep.cell import Cell
from constraintrot.runs.sweep.loading import Sweep


@dataclass(frozen=True)
class Line:
    """The plan of one model's cells.

    Attributes:
        size: size of the cells left to play.
        cost: dollars, fewest and most; None without a price.
        hours: hours that the model's budget takes at least; None without a budget.
    """

    model: str
    cells: int
    finished: int
    size: Size
    cost: tuple[float, float] | None
    hours: tuple[float, float] | None


def size_of(cell: Cell) -> Size:
    return counted(cell.name, cell.args).times(cell.epochs)


def plan(sweep: Sweep, finished: Iterable[str], prices: Prices) -> list[Line]:
    """Return the plan of a sweep, a line per model; sizes are of the cells left to play.

    Prices are dollars per million tokens, ``input`` and ``output``, by model or the beginning of
    its name.
    """
    done = set(finished)
    groups: dict[str, list[Cell]] = {}
    for cell in sweep.cells:
        groups.setdefault(cell.model, []).append(cell)
    budgets: Mapping[str, Mapping[str, float]] = sweep.settings.get("budgets") or {}
    lines: list[Line] = []
    for model, cells in groups.items():
        size = sum((size_of(cell) for cell in cells if cell.id not in done), Size())
        number = sum(cell.id in done for cell in cells)
        dollars, hours = cost(model, size, prices), _hours(model, size, budgets)
        lines.append(Line(model, len(cells), number, size, dollars, hours))
    return lines


def _hours(
    model: str, size: Size, budgets: Mapping[str, Mapping[str, float]]
) -> tuple[float, float] | None:
    name = longest_name(model, budgets)
    if name is None:
        return None
    requests = budgets[name].get("requests_per_minute")
    tokens = budgets[name].get("tokens_per_minute")
    by_requests = size.requests / requests / 60 if requests else 0.0
    low, high = (
        max(by_requests, (one / tokens / 60) if tokens else 0.0) for one in size.input_tokens
    )
    return low, high


def text(sweep: Sweep, lines: Sequence[Line], seconds: float | None, at_once: int) -> str:
    """Return the plan as text.

    ``seconds`` is the measured time of a worker per episode; None without a measurement.
    """
    total = sum((line.size for line in lines), Size())
    rows = [
        f"{sweep.name}: {len(sweep.cells)} cells, {sum(one.finished for one in lines)} finished;"
        f" {total.episodes:,} episodes to play, at most {total.requests:,} model calls"
    ]
    for line in lines:
        cost = unknown() if line.cost is None else f"$ {between(*line.cost, digits=2)}"
        hours = (
            ""
            if line.hours is None
            else f", at least {between(*line.hours, digits=1)} h by its budget"
        )
        rows.append(
            f"  {line.model}: {line.cells} cells, {line.size.episodes:,} episodes,"
            f" {millions(line.size.input_tokens)} M tokens in,"
            f" {millions(line.size.output_tokens)} M out, {cost}{hours}"
        )
    refused: Mapping[str, int] = sweep.settings.get("refused") or {}
    rows += [f"  refused beforehand: {number} x {why}" for why, number in refused.items()]
    if seconds is not None and total.episodes:
        hours_left = total.episodes * seconds / at_once / 3600
        rows.append(
            f"  {seconds:.2f} s an episode so far: {hours_left:.2f} h with {at_once} workers"
        )
    elif total.episodes:
        rows.append("  hours: known after the first finished cell, or from a budget in the spec")
    rows.append(
        "Tokens are estimates, from one call of the agent an episode to as many as it may take;"
        " histories in o200k tokens."
    )
    return "\n".join(rows)
