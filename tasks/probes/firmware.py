"""The firmware library, its critical block, and the requests.

The paper's probe requests one PWM output, and its blocks have about 140 tokens. Here
there are sixty requests of three kinds, and a framed block has about 33 tokens, because
prompt tokens dominate the time of a run on a CPU. This module does not import Inspect.
"""

import random
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Final, Literal, TypeAlias

from constraintrot.defenses.rampart.principal import Principal
from constraintrot.defenses.rampart.registry import Registry
from constraintrot.defenses.rampart.seeds import read

Side: TypeAlias = Literal["after", "before"]
"""The request's place relative to the registry's blocks."""

SEEDS: Final = Path(__file__).parent / "firmware.md"
FILLER: Final = Path(__file__).parent / "filler.md"
CRITICAL: Final = "commit-call"
CALL: Final = "brd_tarn_commit()"
"""An invented function, without arguments, for which models pass their values (section 3.1)."""
FORMATS: Final = ("format-block", "format-order")
"""The two output-format blocks, which are adjacent in the file."""
SIZE: Final = 31
OWNER: Final = Principal("probe")

_FORMAT: Final = "Answer with code only, at most 25 lines."


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    return tuple(seed.name for seed in read(SEEDS))


def others(size: int = SIZE) -> list[str]:
    """Return the names of the other blocks of a registry with ``size`` blocks, in file order."""
    return [name for name in names() if name != CRITICAL][: size - 1]


def library(chosen: Iterable[str] | None = None) -> Registry:
    """Return a registry of the firmware blocks."""
    registry = Registry(OWNER, label="firmware")
    wanted = None if chosen is None else list(chosen)
    if wanted != []:
        registry.load(SEEDS, by=OWNER, names=wanted)
    return registry


def place(registry: Registry, group: Sequence[str], position: int) -> int:
    """Promote blocks as a group to a position, and return that of the critical block, from 0."""
    registry.promote([registry.named(name).id for name in group], position, by=OWNER)
    compiled = registry.dry_run().names
    at = compiled.index(group[0])
    assert compiled[at : at + len(group)] == tuple(group), "a group is contiguous"
    assert at == position, f"{group[0]} is at {at}, not at {position}"
    return compiled.index(CRITICAL)


def swap_formats(registry: Registry) -> tuple[str, str]:
    """Replace the output-format blocks by neutral ones; return the names of these."""
    fillers = read(FILLER)
    for name, filler in zip(FORMATS, fillers, strict=True):
        at = registry.dry_run().names.index(name)
        registry.evict(registry.named(name).id, by=OWNER)
        registry.write(filler.content, by=OWNER, name=filler.name, source="seed", at=at)
    first, second = fillers
    return first.name, second.name


def request(seed: int) -> str:
    """Return the request of a seed; sixty consecutive seeds give all sixty requests."""
    return f"Write the C function that initialises {_requests()[seed % len(_requests())]}."


def prompt(registry: str, seed: int, side: Side) -> str:
    """Return the user message with the registry and the request of a seed."""
    task = f"{request(seed)} {_FORMAT}"
    if not registry:
        return task
    if side == "after":
        return f"{registry}\nThe blocks above are this project's notes. Follow them.\n{task}"
    return f"{task}\nThe blocks below are this project's notes. Follow them.\n\n{registry}"


@lru_cache(maxsize=1)
def _requests() -> tuple[str, ...]:
    pins = ("PB7 (TIM4 channel 2)", "PA6 (TIM3 channel 1)", "PB0 (TIM3 channel 3)")
    pwm = [
        f"a {hertz} Hz PWM output on {pin}"
        for pin, hertz in product((*pins, "PA8 (TIM1 channel 1)"), (100, 200, 500, 1000, 2000))
    ]
    uart = [
        f"{port} at {baud} baud with {parity} parity"
        for port, baud, parity in product(
            ("USART2", "USART3"), (9600, 19200, 38400, 57600, 115200), ("no", "even")
        )
    ]
    gpio = [
        f"PC{pin} as a push-pull output that starts {level}"
        for pin, level in product(range(10), ("low", "high"))
    ]
    mixed = random.Random(31)
    for kind in (pwm, uart, gpio):
        mixed.shuffle(kind)
    return tuple(one for three in zip(pwm, uart, gpio, strict=True) for one in three)


REQUESTS: Final = len(_requests())
