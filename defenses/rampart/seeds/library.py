"""The seed library: filled once at start, then read only; registries draw from it (section 2.1)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from constraintrot.defenses.rampart.errors import SeedError
from constraintrot.defenses.rampart.seeds.parsers import Parsers, Seed
from constraintrot.defenses.rampart.seeds.reading import PARSERS, Source, pick, read

_NAMESPACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class SeedLibrary:
    """Seeds in memory under ``namespace/name``; nothing changes one after it is made.

    Args:
        sources: what each namespace holds, as ``read`` takes it.
        root: the folder of all paths.
        parsers: by file extension.

    Raises:
        SeedError: a namespace or a source is wrong; there is no library then.
    """

    __slots__ = ("_seeds",)
    _seeds: Mapping[str, Seed]

    def __init__(
        self,
        sources: Mapping[str, Source],
        *,
        root: str | Path | None = None,
        parsers: Parsers = PARSERS,
    ) -> None:
        seeds: dict[str, Seed] = {}
        for namespace, source in sources.items():
            if not _NAMESPACE.fullmatch(namespace):
                raise SeedError(
                    f"{namespace!r} is no namespace: letters, digits, '.', '_' and '-' make one"
                )
            for seed in read(source, root=root, parsers=parsers):
                name = f"{namespace}/{seed.name}"
                seeds[name] = replace(seed, name=name)
        pick(seeds.values(), None)
        object.__setattr__(self, "_seeds", MappingProxyType(seeds))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a seed library is read only; make another one")

    __delattr__ = __setattr__  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self._seeds)

    def __iter__(self) -> Iterator[str]:
        return iter(self._seeds)

    def __contains__(self, name: object) -> bool:
        return name in self._seeds

    def __getitem__(self, name: str) -> Seed:
        return self.draw([name])[0]

    def names(self, namespace: str | None = None) -> tuple[str, ...]:
        """The identifiers, of one namespace or of all, in the order of the sources."""
        start = "" if namespace is None else f"{namespace}/"
        return tuple(name for name in self._seeds if name.startswith(start))

    def draw(self, names: Sequence[str] | None = None) -> list[Seed]:
        """The seeds of those identifiers in that order, or all.

        Raises:
            SeedError: an identifier is unknown, or asked for twice.
        """
        return pick(self._seeds.values(), names)
