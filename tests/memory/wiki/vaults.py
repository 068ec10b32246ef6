"""Vaults for the tests, and a store that dies at one of its writes."""

from collections.abc import Callable
from copy import copy

from constraintrot.memory.wiki import Edit, Memory, Page, Plan, Source, Store, Wiki

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


def page_of(wiki: Wiki, name: str) -> Page:
    page = wiki.page(name)
    assert page is not None
    return page


class KilledError(BaseException):
    """The process was killed."""


def dying(inner: Store, at: int, *, after: bool) -> Store:
    """Return a store whose process dies before or after one write.

    Args:
        inner: the store.
        at: which write, from 0.
        after: whether that one is still done.
    """
    left, shared = at, copy(inner)

    def counted(write: Callable[..., None]) -> Callable[..., None]:
        def written(*given: str) -> None:
            nonlocal left
            left -= 1
            if left == -1 and not after:
                raise KilledError
            write(*given)
            if left == -1:
                raise KilledError

        return written

    for name in ("write", "append", "remove"):
        setattr(shared, name, counted(getattr(inner, name)))
    return shared
