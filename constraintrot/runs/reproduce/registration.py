"""``registration.yaml``: the plan of a reproduction, written before anything is played."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from functools import cache
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, TypeAdapter

from constraintrot.errors import ConstraintRotError
from constraintrot.report.claims.declared import Claims
from constraintrot.report.qualified import Level
from constraintrot.report.untrusted import visible
from constraintrot.report.yaml_file import load
from constraintrot.scenario.splits import QUALIFICATION_SEEDS
from constraintrot.strict import Strict

FILE = "registration.yaml"
ALPHA = 0.05
# An adapter counts by its calibration, which has its digest.
_SOURCES = (".py", ".yaml", "calibration.json")
_UNSHOWN = re.compile(r"[\n\r|]")


class Qualifying(Strict):
    """The settings of the subject's qualification.

    Attributes:
        level: which families are used for claims, as in ``report.qualified.usable``.
    """

    variants: int = Field(ge=1, le=36)
    level: Level


class Preset(Strict):
    """Named settings.

    Attributes:
        settings: task parameters of every arm.
        where: further conditions by title of a claim.
        looks: number of looks of the sequential plan.
        pairs: most pairs of a claim; None if they are planned for power.
        open: points that the paper leaves open, with the choices made.
    """

    about: str
    settings: dict[str, Any]
    where: dict[str, dict[str, Any]] = Field(default_factory=dict[str, dict[str, Any]])
    looks: int = Field(ge=1, le=20)
    pairs: int | None = None
    qualification: Qualifying
    open: tuple[str, ...] = ()


class Planned(Strict):
    """The plan of one claim.

    Attributes:
        pairs: different requests in each arm at the last look; 0 if it is not played.
        because: why it is not played or has fewer pairs than its power takes; may be empty.
    """

    title: str
    pairs: int = Field(ge=0)
    because: str = ""


class Registration(Strict):
    """All decisions on the play and its analysis.

    Attributes:
        format: version of the file's format; version 1 counted the requests of all tests of
            a claim together.
        model: the agent's model, as Inspect names it.
        other: the second model, for claims that need one; None without.
        settings: task parameters of every arm that names no others.
        families: families to play, if the subject qualifies on them.
        alpha: family-wise error over all planned claims and all looks.
        looks: number of looks, at numbers of pairs as equal as the families allow.
        seed: first seed of each family's variants.
        prices: dollars per million tokens, by model; a missing model has no known price.
        digest: of all of the above.
    """

    format: Literal[1, 2] = 2
    model: str
    model_args: dict[str, Any]
    roles: dict[str, str]
    other: str | None
    preset: str
    settings: dict[str, Any]
    families: tuple[str, ...]
    qualification: Qualifying
    alpha: float = ALPHA
    looks: int = Field(ge=1, le=20)
    seed: int = Field(0, ge=0, lt=QUALIFICATION_SEEDS.start)
    claims: Claims
    planned: tuple[Planned, ...]
    prices: dict[str, dict[str, float]]
    dollars: float | None
    code: dict[str, str]
    digest: str = ""

    @property
    def sealed(self) -> Registration:
        return self.model_copy(update={"digest": _digest(self)})


@cache
def presets() -> dict[str, Preset]:
    at = resources.files("constraintrot.runs.reproduce").joinpath("presets.yaml")
    return load(at, TypeAdapter(dict[str, Preset]))


def write(path: Path, registration: Registration) -> None:
    """Write a registration; an equal one is left as it is."""
    sealed = registration.sealed
    if path.exists():
        if (known := read(path)).digest != sealed.digest:
            raise ConstraintRotError(
                f"{path} registers another plan ({_differing(known, sealed)}); name another folder with -o"
            )
        return
    _check_shown(path, sealed)
    path.parent.mkdir(parents=True, exist_ok=True)
    head = "# Written by `constraintrot reproduce plan` before anything was played. A change breaks its digest.\n"
    made = yaml.safe_dump(
        sealed.model_dump(mode="json"), sort_keys=False, allow_unicode=True, width=100
    )
    path.write_text(head + made, encoding="utf-8")


def read(path: Path) -> Registration:
    found = load(path, TypeAdapter(Registration), " is no registration:")
    if found.digest != _digest(found):
        raise ConstraintRotError(
            f"{path} was changed after it had been written: its digest is of another plan; plan"
            " again in another folder"
        )
    _check_shown(path, found)
    return found


def code() -> dict[str, str]:
    """Return the package's version, and a digest of all its sources."""
    whole = hashlib.sha256()
    for name, content in _sources():
        whole.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
    return {"version": version("constraintrot"), "sources": whole.hexdigest()[:16]}


def _check_shown(path: Path, registration: Registration) -> None:
    titles = {claim.title for claim in registration.claims.claims}
    unknown = [one.title for one in registration.planned if one.title not in titles]
    if unknown:
        raise ConstraintRotError(f"{path} plans {unknown[0]!r}, which is not among its claims")
    if registration.preset not in presets():
        raise ConstraintRotError(
            f"{path} is of preset {registration.preset!r}: there are {', '.join(presets())}"
        )
    check_texts(
        path, registration.model_dump(mode="json", exclude={"model_args", "roles", "prices"})
    )


def check_texts(path: Path, data: Any) -> None:
    """Refuse texts that a page cannot show in a line."""
    for where, text in _texts(data, ""):
        if _UNSHOWN.search(text) or visible(text) != text:
            raise ConstraintRotError(
                f"{path}: {where} has a line break, a | or a hidden character, which its page"
                " cannot show; take it out"
            )


def _texts(value: Any, where: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield where or "a name", str(key)
            yield from _texts(one, f"{where}.{key}".lstrip("."))
    elif isinstance(value, list):
        for at, one in enumerate(value):
            yield from _texts(one, f"{where}.{at}")


def _sources() -> Iterator[tuple[str, bytes]]:
    root = Path(str(resources.files("constraintrot")))
    # In an editable install some folders are links, which a glob does not follow.
    folders = [root, *sorted(path.resolve() for path in root.iterdir() if path.is_symlink())]
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.name.endswith(_SOURCES) and path.is_file() and "__pycache__" not in path.parts:
                yield f"{folder.name}/{path.relative_to(folder).as_posix()}", path.read_bytes()


def _digest(registration: Registration) -> str:
    # Registrations from before there was a first seed keep their digest.
    data = registration.model_dump(
        mode="json", exclude={"digest"} if registration.seed else {"digest", "seed"}
    )
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _differing(known: Registration, other: Registration) -> str:
    names = [
        name
        for name in Registration.model_fields
        if name != "digest" and getattr(known, name) != getattr(other, name)
    ]
    return f"other {', '.join(names)}"
