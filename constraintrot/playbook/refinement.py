"""Grow and refine: when bullets are de-duplicated and pruned, and which (ACE, section 3.2)."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from constraintrot.playbook.bullets import Bullet
from constraintrot.playbook.similarity import Similarity, opposed

When: TypeAlias = Literal["never", "lazy", "proactive"]


@dataclass(frozen=True)
class Refinement:
    """What keeps a playbook compact.

    Attributes:
        when: ``proactive`` de-duplicates after every delta, ``lazy`` only when a budget is
            exceeded, ``never`` appends only. Budgets are kept by all but ``never``.
        deduplicate: whether bullets that say the same are merged.
        protect: whether constraints are exempt. False is the playbook of the paper, in which
            counters and likeness alone decide; it is there to be measured.
        least: likeness from which on two bullets say the same; None for the measure's own.
    """

    when: When = "proactive"
    deduplicate: bool = True
    protect: bool = True
    least: float | None = None


APPEND_ONLY = Refinement("never", deduplicate=False)
LAZY = Refinement("lazy")
PROACTIVE = Refinement("proactive")
COUNTERS_ONLY = Refinement("lazy", deduplicate=False, protect=False)


def duplicates(
    bullets: Sequence[Bullet],
    changed: Container[str],
    similarity: Similarity,
    refinement: Refinement,
) -> Iterator[tuple[Bullet, Bullet]]:
    """Pairs (later, earlier) of bullets that say the same; no bullet is later twice.

    Only bullets of one kind are compared, and protected constraints with none: they are not
    even handed to the measure. An unprotected playbook trusts the measure alone.

    Args:
        bullets: oldest first.
        changed: ids of those that were not compared as they are now.
        similarity: the measure.
        refinement: its settings.
    """
    compared = [at for at, one in enumerate(bullets) if not (refinement.protect and one.constrains)]
    focus = [at for at, place in enumerate(compared) if bullets[place].id in changed]
    texts = [bullets[at].text for at in compared]
    least = similarity.least if refinement.least is None else refinement.least
    gone: set[int] = set()
    for later, earlier, _ in sorted(similarity.alike(texts, focus, least)):
        one, other = bullets[compared[later]], bullets[compared[earlier]]
        if later in gone or earlier in gone or one.kind != other.kind:
            continue
        if refinement.protect and opposed(one.text, other.text):
            continue
        gone.add(later)
        yield one, other


def prunable(bullets: Sequence[Bullet], refinement: Refinement) -> list[Bullet]:
    """The bullets that may go, the first to go first: least net helpful, longest untouched."""
    free = (one for one in bullets if not (refinement.protect and one.constrains))
    order: Callable[[Bullet], tuple[int, int, int]] = lambda one: (one.net, one.touched, one.number)  # noqa: E731
    return sorted(free, key=order)
