"""Vaults for the tests, and a store that dies at one of its writes."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from constraintrot.memory.wiki import Edit, Memory, Plan, Source, Store, Wiki

TIME = "2026-04-01T09:00:00Z"
RULE = "Never send email outside example.com."
BADGES = Source("Badge memo", "Acme delivers badges on Mondays. The porter keeps them.")
BADGES_PLAN = Plan(
    (
        Edit("entity", "Acme", "Supplier of badges", ("Delivers on Mondays.",), links=("Badges",)),
        Edit("concept", "Badges", "How badges are handed out", ("The porter keeps them.",)),
    ),
    Edit("analysis", "Cost of badges", "What they cost", ("Much, says [[Acme]].",)),
)
MAIL = Source("Mail rules", RULE)
MAIL_PLAN = Plan(
    (
        Edit("concept", "Mail", "Who may get email", (RULE,), links=("Acme",)),
        Edit("entity", "Acme", "", ("Gets no email.",)),
    )
)


def empty(store: Store | None = None) -> Wiki:
    return Wiki.create(store or Memory(), rules=[RULE], time=TIME)


def filled() -> tuple[Wiki, Memory]:
    store = Memory()
    wiki = empty(store)
    wiki.ingest(BADGES, BADGES_PLAN, time=TIME)
    wiki.ingest(MAIL, MAIL_PLAN, time=TIME)
    return wiki, store


class KilledError(BaseException):
    """The process is gone."""


class Dying:
    """A store whose process dies at one write: before it, or after it.

    Args:
        inner: the store.
        at: which write, from 0.
        after: whether that one is still done.
    """

    def __init__(self, inner: Store, at: int, *, after: bool) -> None:
        self.inner, self.left, self.after = inner, at, after

    def read(self, path: str) -> str | None:
        return self.inner.read(path)

    def tail(self, path: str, characters: int) -> str:
        return self.inner.tail(path, characters)

    def exists(self, path: str) -> bool:
        return self.inner.exists(path)

    def files(self, folder: str) -> list[str]:
        return self.inner.files(folder)

    def names(self) -> set[str]:
        return self.inner.names()

    def leftovers(self) -> list[str]:
        return []

    def write(self, path: str, text: str) -> None:
        with self._counted():
            self.inner.write(path, text)

    def append(self, path: str, line: str) -> None:
        with self._counted():
            self.inner.append(path, line)

    def remove(self, path: str) -> None:
        with self._counted():
            self.inner.remove(path)

    @contextmanager
    def locked(self) -> Generator[None]:
        with self.inner.locked():
            yield

    @contextmanager
    def _counted(self) -> Generator[None]:
        self.left -= 1
        if self.left == -1 and not self.after:
            raise KilledError
        yield
        if self.left == -1:
            raise KilledError
