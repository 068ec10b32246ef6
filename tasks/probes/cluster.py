"""The cluster sweep (section 3.2): the critical block grouped with its neighbours."""

from collections.abc import Iterator, Sequence

from inspect_ai import Task, task

from constraintrot.models.config_errors import plain_errors
from constraintrot.tasks.probes import _reading, firmware
from constraintrot.tasks.probes._cells import Cell, assemble, samples
from constraintrot.tasks.probes.firmware import CRITICAL, FORMATS, REQUESTS, SIZE, Side

ARMS = ("front", "centre", "back", "control", "single", "control_single")
_LAST = SIZE - 3


@task
def rampart_cluster(
    positions: str | int | Sequence[int] = (0, 14, 28),
    arms: str | Sequence[str] = ("front", "centre", "back", "control"),
    query: str = "after",
    n: int = 5,
    seed: int = 42,
    **unknown: object,
) -> Task:
    """Success by a group's position and order. ``inspect eval constraintrot/rampart_cluster``.

    The arms ``front``, ``centre`` and ``back`` are the position of the critical block in
    a group with the two output-format blocks. ``control`` is ``back`` with neutral
    firmware blocks in the library instead of these two. ``single`` and
    ``control_single`` promote the critical block alone, to its position in ``back`` and
    ``control``, in the library with and without the two.

    Args:
        positions: positions of the group's first block, 0 to 28.
        arms: names of the arms.
        query: whether the request comes ``after`` the registry or ``before`` it.
        n: requests per cell.
        seed: seed of the first request.
        unknown: unknown parameters, which are refused.
    """
    with plain_errors():
        _reading.refuse(unknown, ("positions", "arms", "query", "n", "seed"))
        places = _reading.wholes("positions", positions, 0, _LAST)
        chosen = _reading.names("arms", arms, ARMS)
        (side,) = _reading.names("query", query, ("after", "before"))
        first = _reading.whole("seed", seed, 0, 2**31)
        seeds = range(first, first + _reading.whole("n", n, 1, REQUESTS))
        cells = [
            cell
            for arm in chosen
            for cell in _sweep(arm, places, "after" if side == "after" else "before")
        ]
        return assemble("rampart_cluster", samples(cells, seeds))


def _sweep(arm: str, positions: Sequence[int], side: Side) -> Iterator[Cell]:
    registry = firmware.library()
    neighbours = FORMATS
    if arm.startswith("control"):
        neighbours = firmware.swap_formats(registry)
    first, second = neighbours
    groups = {
        "front": [CRITICAL, first, second],
        "centre": [first, CRITICAL, second],
        "back": [first, second, CRITICAL],
        "control": [first, second, CRITICAL],
    }
    for position in positions:
        # Alone, the critical block goes to the third position of the group.
        group, at = groups.get(arm, [CRITICAL]), position if arm in groups else position + 2
        critical_at = firmware.place(registry, group, at)
        facts = {"arm": arm, "size": SIZE, "leftmost": position, "critical_at": critical_at}
        yield Cell(f"{arm}_p{position}", registry.compile().prompt, side, None, facts)
