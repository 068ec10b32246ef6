"""The sweeps over positions (3.1, 3.2) and over clusters (3.2): where the critical block stands."""

from collections.abc import Iterator, Sequence

from inspect_ai import Task, task

from constraintrot.errors import ParameterError
from constraintrot.models.config_errors import plain_errors
from constraintrot.tasks.probes import _reading, firmware
from constraintrot.tasks.probes._cells import Cell, assemble, samples
from constraintrot.tasks.probes.firmware import CRITICAL, FORMATS, REQUESTS, SIZE, Side

_SIDES: dict[str, tuple[Side, ...]] = {
    "after": ("after",),
    "before": ("before",),
    "both": ("after", "before"),
}


@task
def rampart_position(
    positions: str | int | Sequence[int] = (0, 10, 20, 30),
    sizes: str | int | Sequence[int] = (31,),
    query: str = "after",
    n: int = 5,
    seed: int = 42,
    **unknown: object,
) -> Task:
    """Success by the critical block's position. ``inspect eval constraintrot/rampart_position``.

    Args:
        positions: positions of the critical block, from 0; left out for registries that
            are too small.
        sizes: numbers of blocks in the registry, 1 to 31, with the critical block.
        query: whether the request comes ``after`` the registry, ``before`` it, or ``both``.
        n: requests per cell; the paper has 20.
        seed: seed of the first request; the paper's are 42 to 61.
        unknown: unknown parameters, which are refused.
    """
    with plain_errors():
        _reading.refuse(unknown, ("positions", "sizes", "query", "n", "seed"))
        places = _reading.wholes("positions", positions, 0, SIZE - 1)
        counts = _reading.wholes("sizes", sizes, 1, SIZE)
        (chosen,) = _reading.names("query", query, tuple(_SIDES))
        seeds = _reading.seeds(seed, n, REQUESTS)
        cells = [
            cell
            for side in _SIDES[chosen]
            for cell in (*_checks(side), *_by_position(side, counts, places))
        ]
        return assemble("rampart_position", samples(cells, seeds))


def _checks(side: Side) -> Iterator[Cell]:
    """Yield the check cells (section 3.1): without the critical block, and with it alone."""
    yield Cell(f"{side}_confound_empty", "", side, "confound", _facts(0, None))
    without = firmware.library(firmware.others()).compile().prompt
    yield Cell(f"{side}_confound_others", without, side, "confound", _facts(SIZE - 1, None))
    alone = firmware.library([CRITICAL]).compile().prompt
    yield Cell(f"{side}_ceiling", alone, side, "ceiling", _facts(1, 0))


def _by_position(side: Side, sizes: Sequence[int], positions: Sequence[int]) -> Iterator[Cell]:
    for size in sizes:
        fitting = [position for position in positions if position < size]
        if not fitting:
            raise ParameterError(
                f"a registry of {size} blocks has none of the positions {positions}"
            )
        registry = firmware.library([CRITICAL, *firmware.others(size)])
        for position in fitting:
            at = firmware.place(registry, [CRITICAL], position)
            name = f"{side}_n{size}_p{position}"
            yield Cell(name, registry.compile().prompt, side, None, _facts(size, at))


def _facts(size: int, at: int | None) -> dict[str, int | None]:
    return {"size": size, "critical_at": at}


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
        seeds = _reading.seeds(seed, n, REQUESTS)
        cells = [
            cell
            for arm in chosen
            for cell in _by_arm(arm, places, "after" if side == "after" else "before")
        ]
        return assemble("rampart_cluster", samples(cells, seeds))


def _by_arm(arm: str, positions: Sequence[int], side: Side) -> Iterator[Cell]:
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
