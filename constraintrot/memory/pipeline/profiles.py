"""The layers as two profiles: ``kept`` keeps rules, ``literal`` follows the specification literally.

``kept`` is what this package recommends. ``literal`` follows the specification of the context
pipeline, and adds no protection where the specification is silent: a summary in the system role,
caches keyed by a request's words alone, an injection filter that withholds instead of marking. It
exists to be measured.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, Literal, TypeAlias

from inspect_ai.model import (
    CompactionStrategy,
)

from constraintrot.errors import ParameterError
from constraintrot.memory.pipeline.arrangement import (
    Affinity,
    DualPosition,
    PrefixTiers,
    SummaryRoles,
)
from constraintrot.memory.pipeline.budget import DEFAULT
from constraintrot.memory.pipeline.cache import ExactCache, SemanticCache
from constraintrot.memory.pipeline.history import (
    HANDOFF_AFTER,
    THRESHOLD,
    Compaction,
    Handoff,
    Summarize,
    Summary,
)
from constraintrot.memory.pipeline.injection import InjectionFilter
from constraintrot.memory.pipeline.layer import Layer
from constraintrot.memory.pipeline.limits import Limits
from constraintrot.memory.pipeline.masking import Masking
from constraintrot.memory.pipeline.tools import ToolPruning

Profile: TypeAlias = Literal["kept", "literal"]
PROFILES: Final[tuple[Profile, ...]] = ("kept", "literal")
# In the order in which a request passes them; the profile "literal" has no "roles".
NAMES: Final = (
    "prefix", "exact_cache", "semantic_cache", "masking", "injection", "tools", "handoff",
    "compaction", "roles", "limits", "dual_position", "affinity",
)  # fmt: skip
BACKENDS: Final = ("backend-a", "backend-b")


def layers(
    strategy: CompactionStrategy | None = None,
    profile: Profile = "kept",
    *,
    threshold: float = THRESHOLD,
    handoff_after: int = HANDOFF_AFTER,
    backends: tuple[str, ...] = BACKENDS,
    write: Summarize | None = None,
    core: Collection[str] = (),
) -> list[Layer]:
    """Return all layers in their order.

    Args:
        strategy: the compactor; by default a summary of all but the last ten turns.
        profile: ``kept`` or ``literal``.
        threshold: share of the budget from which history is compacted.
        handoff_after: compactions before a hand-off.
        backends: the backends between which affinity chooses.
        write: a function that writes summaries and briefings, for callers without an Inspect model.
        core: names of tools that are never pruned.

    Raises:
        ParameterError: the profile is unknown, or a number is out of its range.
    """
    if profile not in PROFILES:
        raise ParameterError(f"profile is {' or '.join(PROFILES)}, not {profile!r}")
    literal = profile == "literal"
    found: list[Layer] = [
        PrefixTiers(),
        ExactCache(keyed="query" if literal else "context"),
        SemanticCache(keyed="query" if literal else "context", guard=not literal),
        Masking(keep_domain=not literal),
        InjectionFilter(
            action="withhold" if literal else "mark",
            roles=("user", "tool") if literal else ("tool",),
        ),
        ToolPruning(core),
        Handoff(after=handoff_after, threshold=threshold, write=write),
        Compaction(
            strategy or Summary(write, recent=DEFAULT.recent_turns),
            threshold=threshold,
            summary_role="system" if literal else "user",
        ),
        SummaryRoles(),
        Limits(),
        DualPosition(),
        Affinity(backends),
    ]
    return [one for one in found if not (literal and one.name == "roles")]
