"""The owners that a user trusts for signed lists of pins: ``owners.json`` beside the pins.

A repository's list counts in the folder in which its owner was trusted, for the repository
that it is signed for, and never at an older revision than the one seen there. A list without
a repository counts by its owner and name, wherever its file is.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from constraintrot import files
from constraintrot.coding_agents.pins.file_edit import OlderListError, PinInstallError
from constraintrot.defenses.operator import PinList, ScopeError, UnknownKeyError
from constraintrot.defenses.operator.pin_list import of_repository, read_list

IN_REPOSITORY: Final = Path(".constraintrot/pins.json")
"""The file of a repository's list, below the repository's folder."""
TRUST: Final = "constraintrot pin trust shows it and asks"
OWNERS: Final = "owners.json"
_LARGEST: Final = 1_000_000
_ORIGIN: Final = re.compile(r'\[remote "origin"\]([^\[]*)', re.IGNORECASE)
_URL: Final = re.compile(r"^\s*url\s*=\s*(\S+)\s*$", re.MULTILINE | re.IGNORECASE)
# https://user:token@host:443/a/b.git, ssh://git@host/a/b and git@host:a/b are host/a/b.
_REMOTE: Final = re.compile(
    r"(?:\w+://)?(?:[^@/\s]*@)?(?P<host>[\w.-]+\.[\w-]+|localhost)(?::\d+(?=/))?[:/]/*"
    r"(?P<path>[^\s?#]+?)/*(?:\.git)?/*"
)


@dataclass(frozen=True)
class Trusted:
    """A list whose owner the user trusts."""

    place: str | None  # the repository's folder; None for a list without a repository
    repository: str | None  # the repository that the list is signed for
    origin: str | None  # git's origin of the clone when the owner was trusted
    name: str
    owner: str  # the public key, hex
    revision: int  # the highest that was seen
    digest: str  # of the list of that revision

    def was_compiled(self, compiled: Mapping[str, Any]) -> bool:
        """Return whether a pin's compiled rules are of this list, under any path to it."""
        if self.place is not None:
            folder = Path(compiled["path"]).parent.parent
            return compiled["kind"] == "repository" and str(folder.resolve()) == self.place
        signed = compiled["signed"] if compiled["kind"] == "signed" else {}
        return (signed.get("name"), signed.get("owner")) == (self.name, self.owner)

    def same_list(self, place: str | None, found: PinList) -> bool:
        """Return whether a list at a place is this trusted list."""
        if place is not None or self.place is not None:
            return self.place == place
        return (self.name, self.owner) == (found.name, found.owner)


def place_of(file: Path, found: PinList) -> str | None:
    """Return the folder that a list counts in; None for a list without a repository."""
    if found.repository is None:
        return None
    if file.parts[-2:] != IN_REPOSITORY.parts:
        raise ScopeError(
            f"{file} is signed for {of_repository(found.repository)}: it counts in there as"
            f" {IN_REPOSITORY}, for pins of the project, and nowhere else"
        )
    return str(file.parent.parent.resolve())


def accepted(file: Path, *, in_repository: bool, folder: Path, note: bool = True) -> PinList:
    """Return the list of a signed file whose owner is trusted for it.

    ``note`` records a higher revision as seen.

    Raises:
        OperatorError: the file was changed, or its owner is not trusted for it.
        OlderListError: a later list was accepted before.
    """
    found = read_list(file)
    # The owner is checked first: a model reads the error, which must not quote a stranger.
    place = str(file.parent.parent.resolve()) if in_repository else None
    with _kept(folder) as kept:
        known = next((one for one in kept if one.same_list(place, found)), None)
        _check(file, found, known)
        assert known is not None
        if note and found.revision > known.revision:
            kept[kept.index(known)] = replace(known, revision=found.revision, digest=found.digest)
    return found


def identity(file: Path, found: PinList, repository: str | None) -> tuple[str | None, str | None]:
    """Return the folder that a list counts in, and the origin of the repository there.

    ``repository`` is the repository as the user names it; None for git's origin.
    """
    place = place_of(file, found)
    origin = origin_of(Path(place)) if place else None
    if place and found.repository != (here := repository or origin):
        raise ScopeError(
            f"{file} is signed for {of_repository(found.repository)}, and this is"
            f" {of_repository(here)}; if it is a fork or has no origin, say so with"
            f" --repository {found.repository}"
        )
    return place, origin


def trust(file: Path, found: PinList, repository: str | None, folder: Path) -> None:
    """Trust the owner of a list from now on.

    Raises:
        ScopeError: the list is signed for another repository.
        OlderListError: a later list of the same owner was accepted before.
    """
    place, origin = identity(file, found, repository)
    with _kept(folder) as kept:
        for one in [one for one in kept if one.same_list(place, found)]:
            if (one.owner, one.name) == (found.owner, found.name):
                _check_newer(file, found, one)
            kept.remove(one)
        known = (found.name, found.owner, found.revision, found.digest)
        kept.append(Trusted(place, found.repository, origin, *known))


def revoke(file: Path, folder: Path) -> list[Trusted]:
    """End the trust in the owner of a list; return the removed entries.

    A repository's list is identified by its place, so its file may be damaged or gone.
    """
    place = str(file.parent.parent.resolve()) if file.parts[-2:] == IN_REPOSITORY.parts else None
    with _kept(folder) as kept:
        gone = [one for one in kept if place is not None and one.place == place]
        if not gone:
            found = read_list(file)
            gone = [one for one in kept if one.same_list(place_of(file, found), found)]
        kept[:] = [one for one in kept if one not in gone]
    return gone


def seen_revision(file: Path, found: PinList, folder: Path) -> int:
    """Return the highest revision of a list that was accepted here; 0 if there is none."""
    place = place_of(file, found)
    with _kept(folder) as kept:
        return max((one.revision for one in kept if one.same_list(place, found)), default=0)


def repository_at(folder: Path) -> Path | None:
    """Return the folder of the repository that a folder is in, or None."""
    return next((one for one in (folder, *folder.parents) if (one / ".git").exists()), None)


def origin_of(root: Path) -> str | None:
    """Return the identity of a repository by its origin, such as ``github.com/acme/shop``.

    Read from git's config, which a clone does not copy. Users and tokens in a URL are left out.
    """
    try:
        folder = root / ".git"
        if folder.is_file():
            folder = root / _line(folder).removeprefix("gitdir:").strip()
        if (folder / "commondir").is_file():
            folder = folder / _line(folder / "commondir").strip()
        text = _line(folder / "config")
    except (PinInstallError, UnicodeDecodeError):
        return None
    section = _ORIGIN.search(text)
    url = section and _URL.search(section[1])
    remote = url and _REMOTE.fullmatch(url[1])
    return f"{remote['host'].lower()}/{remote['path']}" if remote else None


def _line(path: Path) -> str:
    return files.contents(path, _LARGEST, PinInstallError, links=True).decode()


def _check(file: Path, found: PinList, known: Trusted | None) -> None:
    if known is None or known.owner != found.owner:
        trusted = "" if known is None else ", and another key is trusted here"
        raise UnknownKeyError(
            f"{file} is signed by key {found.key.id}, which you do not trust for it{trusted}: {TRUST}"
        )
    if (known.repository, known.name) != (found.repository, found.name):
        raise ScopeError(
            f"{file} is the list {found.name!r} of {of_repository(found.repository)}, and trusted"
            f" here is the list {known.name!r} of {of_repository(known.repository)}"
        )
    if known.place and origin_of(Path(known.place)) != known.origin:
        raise ScopeError(
            f"{known.place} has another origin than when you trusted its list: {TRUST}"
        )
    _check_newer(file, found, known)


def _check_newer(file: Path, found: PinList, known: Trusted) -> None:
    if found.revision < known.revision:
        raise OlderListError(
            f"{file} is of revision {found.revision}, and revision {known.revision} was in force"
            " here: an older list is refused",
            (known.owner, known.revision),
        )
    if found.revision == known.revision and found.digest != known.digest:
        raise OlderListError(
            f"{file} is another list of revision {found.revision} than the one that was in force"
            " here: it is refused",
            (known.owner, known.revision),
        )


@contextmanager
def _kept(folder: Path) -> Iterator[list[Trusted]]:
    """Lock and read the record of trust; write it if the caller changed it."""
    path = folder / OWNERS
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with files.locked(path, PinInstallError):
        kept = _read(path)
        before = list(kept)
        yield kept
        if kept != before:
            data = json.dumps({"version": 1, "lists": [asdict(one) for one in kept]}, indent=1)
            files.replace(path, data.encode(), PinInstallError)


def _read(path: Path) -> list[Trusted]:
    if not path.exists():
        return []
    try:
        kept = json.loads(files.contents(path, _LARGEST, PinInstallError))
        if kept["version"] != 1:
            raise ValueError("of another version")
        return [Trusted(**one) for one in kept["lists"]]
    except (PinInstallError, ValueError, TypeError, KeyError) as error:
        raise PinInstallError(
            f"{path} is damaged ({error}); move it away, and trust anew"
        ) from None
