"""Seed files, checked before loading, and the read-only library of seeds (section 2.1)."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias, cast

from constraintrot.defenses.rampart.block import name_key
from constraintrot.defenses.rampart.errors import SeedError
from constraintrot.defenses.rampart.seeds.markdown import markdown
from constraintrot.defenses.rampart.seeds.parsers import Parsers, Seed
from constraintrot.errors import ParameterError
from constraintrot.files import contents

LARGEST: Final = 8 * 1024 * 1024
"""The largest file in bytes; some 10,000 blocks of the length that the paper advises."""

PARSERS: Final = Parsers()
"""The parsers that ``read`` uses; add to them before the first file is read."""
_SUFFIXES: Final = (".md", ".markdown")
for _suffix in _SUFFIXES:
    PARSERS.add(_suffix, markdown)

Source: TypeAlias = (
    "str | Path | SeedLibrary | Mapping[str, object] | Sequence[str | Path | Mapping[str, object]]"
)
"""A path; a descriptor ``{"path": ..., "names": [...]}``; several of them; or a library."""


def read(
    source: Source,
    names: Sequence[str] | None = None,
    *,
    root: str | Path | None = None,
    parsers: Parsers = PARSERS,
) -> list[Seed]:
    """Return the seeds of a source, all or none.

    Args:
        source: the source; a string is a path.
        names: the blocks to take, in that order; None takes all, in file order.
        root: the folder that every path is relative to and must lie in. Without it a path may be
            anywhere, and a symlink must stay in the path's own folder.
        parsers: parsers by file extension.

    Raises:
        SeedError: a file is missing, not a regular file, outside its folder, too large, not
            UTF-8, of an unknown extension or not of its format; a name is there twice, or is
            asked for and not there.
    """
    if isinstance(source, SeedLibrary):
        return source.draw(names)
    seeds = [seed for one in _descriptors(source) for seed in _described(one, root, parsers)]
    return pick(seeds, names)


def pick(seeds: Iterable[Seed], names: Sequence[str] | None) -> list[Seed]:
    """Return the seeds of those names in that order, or all of them."""
    every = list(seeds)
    by_name: dict[str, Seed] = {}
    for seed in every:
        other = by_name.setdefault(name_key(seed.name), seed)
        if other is not seed:
            raise SeedError(
                f"two blocks under one name: {other.name!r} of {other.origin} and "
                f"{seed.name!r} of {seed.origin}; name the blocks to take"
            )
    if names is None:
        return every
    if isinstance(names, str):
        raise SeedError(f"names is a list of names; got the string {names!r}")
    exact = {seed.name: seed for seed in every}
    if unknown := [name for name in names if name not in exact]:
        known = ", ".join(sorted(exact)[:50]) or "none"
        raise SeedError(f"no block named {', '.join(map(repr, unknown))}; known: {known}")
    if len(set(names)) < len(names):
        raise SeedError("a name is asked for twice")
    return [exact[name] for name in names]


def _descriptors(source: object) -> list[Mapping[str, object]]:
    if isinstance(source, str | Path):
        return [{"path": source}]
    if isinstance(source, Mapping):
        return [cast("Mapping[str, object]", source)]
    if isinstance(source, Sequence) and not isinstance(source, bytes):
        several = cast("Sequence[object]", source)
        return [one for each in several for one in _descriptors(each)]
    raise SeedError(
        "a seed source is a path, a mapping with a path and names, a list of these, "
        f"or a library; got {type(source).__name__}"
    )


def _described(one: Mapping[str, object], root: str | Path | None, parsers: Parsers) -> list[Seed]:
    path = one.get("path")
    if not isinstance(path, str | Path) or not set(one) <= {"path", "names"}:
        raise SeedError(f"a descriptor has the keys path and names; got {sorted(map(str, one))}")
    try:
        return pick(_file(Path(path), root, parsers), _names(one.get("names")))
    except SeedError as error:
        raise SeedError(f"{path}: {error}") from error


def _names(value: object) -> list[str] | None:
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        raise SeedError(f"names is a list of names; got {value!r}")
    return [str(name) for name in cast("Sequence[object]", value)]


def _file(path: Path, root: str | Path | None, parsers: Parsers) -> list[Seed]:
    parser = parsers.get(path.suffix)
    text = _text(_confined(path, root))
    try:
        seeds = parser(text, path.stem)
    except SeedError:
        raise
    except Exception as error:  # A parser of someone else's may raise anything.
        raise SeedError(f"its parser failed: {type(error).__name__}: {error}") from error
    return [Seed(seed.name, seed.content, seed.priority, seed.tags, str(path)) for seed in seeds]


def _confined(path: Path, root: str | Path | None) -> str:
    """Return the real path of a file, without links."""
    if root is not None and ".." in path.parts:
        raise SeedError("'..' leads out of the folder of the seeds; name the file from there")
    folder = path.parent if root is None else Path(root)
    try:
        real = os.path.realpath(path if root is None else folder / path)
        within = os.path.realpath(folder)
        inside = os.path.commonpath([real, within]) == within
    except (OSError, ValueError) as error:
        raise SeedError(f"it cannot be read: {error}") from error
    if not inside:
        raise SeedError(f"it lies outside of {folder}; a seed file stays in its folder")
    return real


def _text(real: str) -> str:
    data = contents(real, LARGEST, SeedError)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SeedError(f"it is not UTF-8: {error.reason} at byte {error.start}") from error


_NAMESPACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class SeedLibrary:
    """Seeds in memory under ``namespace/name``; a library never changes.

    Args:
        sources: the source of each namespace, as for ``read``.
        root: the folder of all paths.
        parsers: parsers by file extension.

    Raises:
        SeedError: a namespace or a source is wrong.
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
        """Return the identifiers of one namespace or of all, in the order of the sources."""
        start = "" if namespace is None else f"{namespace}/"
        return tuple(name for name in self._seeds if name.startswith(start))

    def draw(self, names: Sequence[str] | None = None) -> list[Seed]:
        """Return the seeds of those identifiers in that order, or all."""
        return pick(self._seeds.values(), names)


def seed_files(given: Path) -> list[Path]:
    """Return the file, or all files of the folder, sorted."""
    if not given.is_dir():
        return [given]
    # Kubernetes keeps the files of a mounted folder in a folder with such a name.
    found = sorted(file for file in given.iterdir() if not file.name.startswith(".."))
    for file in found:
        if file.is_dir() or file.suffix.lower() not in _SUFFIXES:
            raise ParameterError(
                f"{file} would not be pinned: a folder of seeds holds files of the kinds"
                f" {', '.join(_SUFFIXES)} and nothing else"
            )
    if not found:
        raise ParameterError(f"{given} has no seed file; known are {', '.join(_SUFFIXES)}")
    return found
