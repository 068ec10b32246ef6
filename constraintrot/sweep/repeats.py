"""No episode twice: a control is the same one, whichever compactor its cell is about.

Every cell has controls, and those of two cells that differ in the compactor, its prompt or the
summarizer's model are the same episodes. Played in both, they would cost twice and count twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from constraintrot.sweep.sizes import Planned, planned


@dataclass(frozen=True)
class Combination:
    """A point of the matrix.

    Attributes:
        model: the agent's model.
        roles: models of other roles.
        args: the task's parameters.
        look: the interim look at which it counts.
    """

    model: str
    roles: Mapping[str, str]
    args: Mapping[str, Any]
    look: int = 1


def once(task: str, points: Sequence[Combination]) -> Iterator[Combination]:
    """The same points, each without the conditions whose episodes an earlier one plays all.

    A point of which nothing is left is left out.

    Args:
        task: the Inspect task.
        points: combinations that can be played.
    """
    seen: set[str] = set()
    for point in points:
        episodes: dict[str, set[str]] = {}
        for one in planned(task, point.args):
            episodes.setdefault(one.condition, set()).add(_identity(point, one))
        fresh = [name for name, identities in episodes.items() if not identities <= seen]
        seen |= set[str]().union(*episodes.values())
        if len(fresh) == len(episodes):
            yield point
        elif fresh:
            yield replace(point, args={**point.args, "conditions": ",".join(fresh)})


def _identity(point: Combination, one: Planned) -> str:
    """What an episode is, with those that it stands for: its models, facts and variants."""
    roles = dict(point.roles)
    if one.compactor == "none":
        # Nobody is asked for a summary.
        roles.pop("summarizer", None)
    variants = [point.args.get(name) for name in ("seed", "variants")]
    return json.dumps([point.model, roles, variants, one.digest], sort_keys=True)
