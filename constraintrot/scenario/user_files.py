"""Scenario files that a user names by path: read with line numbers, and then registered."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from constraintrot.documents import Document, Place, document, dotted, faults
from constraintrot.errors import ConstraintRotError, ScenarioError
from constraintrot.scenario.extends import laid_over
from constraintrot.scenario.schema import WORDINGS, Scenario
from constraintrot.scenario.sections import Texts
from constraintrot.scenario.template import fill
from constraintrot.scenario.values import is_list, is_mapping

_LEAST_RULES, _MOST_RULES = 2, 20
# A value of all policies, which every scenario draws for itself.
_SHARED = "org"


def listed(path: Path) -> list[Path]:
    """Return the scenario files that a file lists as its ``rules``; empty for an ordinary file."""
    data = document(path).data
    if not is_mapping(data) or "rules" not in data:
        return []
    names, more = data["rules"], sorted(set(data) - {"rules"})
    if more:
        raise ScenarioError(f"{path}: {more[0]!r} beside rules; each rule's own file says it")
    if not is_list(names) or not all(isinstance(name, str) for name in names):
        raise ScenarioError(
            f"{path}: rules is a list of scenario files, as [mail.yaml, deploy.yaml]"
        )
    if not _LEAST_RULES <= len(set(names)) == len(names) <= _MOST_RULES:
        raise ScenarioError(
            f"{path}: rules lists {_LEAST_RULES} to {_MOST_RULES} files, none of them twice"
        )
    return [path.parent / str(name) for name in names]


def together(scenarios: Sequence[Scenario]) -> list[Scenario]:
    """Return each scenario with its policy and neutral text joined with those of the others."""
    return [
        one.model_copy(
            update={
                "policy": _joined(at, [other.policy for other in scenarios], scenarios),
                "neutral": _joined(at, [other.neutral for other in scenarios], scenarios),
            }
        )
        for at, one in enumerate(scenarios)
    ]


def _joined(at: int, texts: Sequence[Texts], scenarios: Sequence[Scenario]) -> Texts:
    """Join the texts of all scenarios; those of the others have their first variant's values."""
    values = [{**one.variant(0).values, _SHARED: f"{{{{{_SHARED}}}}}"} for one in scenarios]
    joined: dict[str, list[str]] = {}
    for wording in WORDINGS:
        joined[wording] = []
        for phrasing, own in enumerate(texts[at][wording]):
            others = [
                fill(text[wording][phrasing % len(text[wording])], known)
                for text, known in zip(texts, values, strict=True)
            ]
            joined[wording].append("\n".join([*others[:at], own, *others[at + 1 :]]))
    return Texts.model_validate(joined)


_OPEN = re.compile(r"\bTODO\b[:\s]*(.*)")
_MOST_FILES = 100


@dataclass(frozen=True)
class Fault:
    """A fault at a place of a file, and its remedy.

    Attributes:
        place: the entry; empty for the whole file.
        line: its line, from 1.
        severe: whether the measurement would be wrong, not only weak.
    """

    check: str
    said: str
    advice: str
    place: Place = ()
    line: int = 1
    severe: bool = True

    @classmethod
    def weak(cls, check: str, said: str, advice: str, place: Place) -> Fault:
        return cls(check, said, advice, place, severe=False)

    def shown(self, path: Path) -> str:
        """Return the fault as a compiler shows it: ``mine.yaml:12: trigger.3: ...``."""
        where = f" {dotted(self.place)}:" if self.place else ""
        kind = "" if self.severe else " (weak)"
        return f"{path}:{self.line}:{where} {self.said}{kind}\n    {self.advice}"


@dataclass(frozen=True)
class UserFile:
    path: Path
    digest: str
    scenario: Scenario


_KNOWN: dict[tuple[str, str], UserFile] = {}
# Number of registrations, replacements included; a key for caches of derived values.
_made_known = 0


def inspected(path: Path) -> tuple[Document, Scenario | None, list[Fault]]:
    """Return a file, its scenario (None if it is incomplete), and its faults."""
    found = document(path)
    open_ones = list(_open(found))
    try:
        scenario = Scenario.model_validate(laid_over(found.data, path.parent))
    except ValidationError as error:
        pairs = dict.fromkeys(_without_flags(found.data, *one) for one in faults(error))
        wrong = [_fault(found, place, message) for place, message in pairs]
        told = {fault.line for fault in open_ones}
        return found, None, [*open_ones, *(one for one in wrong if one.line not in told)]
    except (ConstraintRotError, RecursionError) as error:
        return found, None, [*open_ones, _fault(found, (), str(error))]
    return found, scenario, open_ones


def read(path: Path) -> UserFile:
    """Return a user's complete scenario."""
    path = path.resolve()
    found, scenario, wrong = inspected(path)
    if wrong or scenario is None:
        told = "\n".join(fault.shown(path) for fault in wrong)
        raise ScenarioError(f"{told}\n`constraintrot scenario check {path}` says the same and more")
    digest = hashlib.sha256(found.text.encode()).hexdigest()[:16]
    return UserFile(path, digest, scenario)


def read_all(path: Path) -> list[UserFile]:
    """Return a user's scenario, those of a folder, or those that a file lists as its rules."""
    if not path.is_dir():
        rules = listed(path)
        return _of_rules(path.resolve(), rules) if rules else [read(path)]
    paths = sorted([*path.glob("*.yaml"), *path.glob("*.yml")])
    if not paths:
        raise ScenarioError(f"{path}: no .yaml file in this folder")
    if len(paths) > _MOST_FILES:
        raise ScenarioError(f"{path}: {len(paths)} files; at most {_MOST_FILES} are read")
    return _apart([read(one) for one in paths])


def _of_rules(path: Path, rules: Sequence[Path]) -> list[UserFile]:
    read_ones = _apart([read(one) for one in rules])
    if len({one.scenario.locale for one in read_ones}) > 1:
        raise ScenarioError(f"{path}: its rules are of several locales")
    texts = path.read_text(encoding="utf-8"), *(one.digest for one in read_ones)
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]
    found = together([one.scenario for one in read_ones])
    return [UserFile(path, digest, scenario) for scenario in found]


def _apart(read_ones: list[UserFile]) -> list[UserFile]:
    """Return the files, or raise ``ScenarioError`` if two hold one family and locale."""
    by_name: dict[tuple[str, str], Path] = {}
    for one in read_ones:
        key = one.scenario.family, one.scenario.locale
        if key in by_name:
            raise ScenarioError(
                f"{one.path}: holds {'.'.join(key)}, as {by_name[key].name} does; rename the family"
            )
        by_name[key] = one.path
    return read_ones


def make_known(given: Iterable[UserFile], taken: Sequence[str]) -> None:
    """Register scenarios by family and locale, like those of an installed package."""
    global _made_known  # one table for the process, as of installed packages
    for one in given:
        if one.scenario.family in taken:
            raise ScenarioError(
                f"{one.path}: family {one.scenario.family} is there already; choose another name"
            )
        key = one.scenario.family, one.scenario.locale
        if key not in _KNOWN or _KNOWN[key].digest != one.digest:
            _KNOWN[key] = one
            _made_known += 1


def known() -> tuple[UserFile, ...]:
    return tuple(_KNOWN.values())


def named(family: str, locale: str) -> UserFile | None:
    return _KNOWN.get((family, locale))


def version() -> int:
    """Return a number that rises when a scenario is registered."""
    return _made_known


def again(path: str, digest: str, family: str, locale: str) -> Scenario:
    """Return the scenario that a sample was made from."""
    found = named(family, locale)
    if found is None or found.digest != digest:
        given = [one for one in read_all(Path(path)) if one.scenario.family == family]
        found = next(iter(given), None)
        if found is None or found.digest != digest:
            raise ScenarioError(
                f"{path} was changed since the sample was made; score it with the file as it was"
            )
        make_known([found], ())
    return found.scenario


def _open(found: Document) -> Iterable[Fault]:
    for at, line in enumerate(found.text.splitlines(), start=1):
        told = _OPEN.search(line)
        if told:
            what = told[1].strip(" \"'}]") or "something is to be filled in here"
            yield Fault(
                "todo", f"TODO: {what}", "Fill this in, and take the word TODO out.", (), at
            )


def _without_flags(data: object, place: Place, message: str) -> tuple[Place, str]:
    """Return a fault's place and message, or those of the bare yes or no that caused it."""
    node: Any = data
    for at, part in enumerate(place):
        try:
            node = node[part]
        except (KeyError, IndexError, TypeError):
            break
        if isinstance(node, bool):
            return place[: at + 1], f"a bare yes, no, on, off, true or false is read as {node}"
    return place, message


def _fault(found: Document, place: Place, message: str) -> Fault:
    place = place or _named(found, message)
    advice = "See https://github.com/constraintrot/constraintrot/blob/main/docs/your-policy.md for what the entry holds."
    if "Extra inputs" in message:
        message, advice = f"unknown key {place[-1]!r}", "Take it out, or correct its name."
    elif message.startswith("a bare yes"):
        advice = "Put it in quotes, as 'yes' or 'no'."
    elif message == "Field required":
        message, advice = f"{place[-1]!r} is missing", "Add it."
    return Fault("schema", message.removeprefix("Value error, "), advice, place, found.line(place))


def _named(found: Document, message: str) -> Place:
    """Return the place of the first text with the placeholder or name in a message."""
    wanted = [
        text
        for pair in re.findall(r"(?s)(\{\{.*?\}\})|'([^']+)'", message)
        for text in pair
        if text
    ]

    def look(node: object, place: Place) -> Place | None:
        items: Iterable[tuple[str | int, object]] = ()
        if isinstance(node, dict):
            items = node.items()
        elif isinstance(node, list):
            items = enumerate(node)
        elif any(text in str(node) for text in wanted):
            return place
        return next((hit for key, item in items if (hit := look(item, (*place, key)))), None)

    return look(found.data, ()) or ()
