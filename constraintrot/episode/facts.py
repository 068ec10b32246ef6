"""The facts of an episode: one typed, versioned model, from which every list of them is derived.

The annotation of a fact states its uses. The columns of a frame, the columns that pairs
are matched on, the settings that a report holds fixed and the design that a contributed
result is checked against are all read from these annotations.
"""

from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import ValidationError

from constraintrot.errors import ConstraintRotError
from constraintrot.strict import Strict

NONE = "none"
"""The value of a fact that does not apply, such as the compactor of an uncompacted episode."""


class Role(Enum):
    """A use of a fact."""

    PLANNED = "what a task plans; playing the episode cannot change it"
    KEY = "arms are matched on it, unless they differ in it by definition"
    SETTING = "a report holds it fixed, beside the arm"
    POOLED = "the episodes of a cell should share it; a table warns if they do not"
    SHARED = "all episodes of a contributed result share it"
    SUBJECT = "a qualification is of this value, beside its model and scaffold"
    VARIED = "two arms may differ in it: the treatment, or a setting that one of them lacks"
    MEASURED = "only a played episode has it"


_P, _K, _S, _L = Role.PLANNED, Role.KEY, Role.SETTING, Role.POOLED
_C, _Q, _V, _M = Role.SHARED, Role.SUBJECT, Role.VARIED, Role.MEASURED
_Number: TypeAlias = int | Literal["none"] | None


class EpisodeFacts(Strict):
    """The facts of one episode, planned and measured; None is unknown, ``none`` does not apply."""

    VERSION: ClassVar[int] = 1

    family: Annotated[str | None, _P, _K] = None
    kind: Annotated[str | None, _P] = None
    locale: Annotated[str | None, _P, _K, _S, _L, _C, _Q] = None
    wording: Annotated[str | None, _P, _K, _S, _L, _C, _Q] = None
    channel: Annotated[str | None, _P, _K, _S, _L, _C, _Q] = None
    condition: Annotated[str | None, _P, _K, _V] = None
    compactor: Annotated[str | None, _P, _K, _S, _L, _C, _V] = None
    prompt: Annotated[str | None, _P, _K, _S, _L, _C, _V] = None
    budget_words: Annotated[_Number, _P, _K, _S, _L, _C, _V] = None
    rounds: Annotated[_Number, _P, _K, _S, _L, _C, _V] = None
    scaffold: Annotated[str | None, _K, _S, _L, _C] = None
    rule_judge_by: Annotated[str | None, _K, _L, _C, _Q] = None
    decline_tool: Annotated[bool | None, _L, _C, _Q] = None
    steps: Annotated[int | None, _L, _C, _Q] = None
    attack: Annotated[str | None, _P, _K, _L, _Q, _V] = None
    defense: Annotated[str | None, _P, _K, _L, _Q, _V] = None
    harness: Annotated[str | None, _P, _K, _S, _L, _C, _Q] = None
    agent: Annotated[str | None, _K] = None
    summarizer: Annotated[str | None, _K, _L, _C, _V] = None
    distractors: Annotated[int | None, _P, _K, _L, _Q, _V] = None
    exercised: Annotated[int | None, _P, _K, _L, _C, _Q] = None
    system_prompt: Annotated[str | None, _P, _K, _L, _C, _Q] = None
    asked_by: Annotated[str | None, _P, _K, _L, _Q, _V] = None
    tools: Annotated[str | None, _P, _K, _L, _C, _Q] = None
    split: Annotated[str | None, _P, _K, _L, _C, _Q] = None
    phrasing: Annotated[int | None, _P] = None
    policy_phrasing: Annotated[int | None, _P] = None
    request: Annotated[str | None, _P] = None
    session: Annotated[str | None, _P] = None
    awareness: Annotated[bool | float | str | None, _M] = None
    prober: Annotated[str | None, _M] = None
    context_tokens: Annotated[_Number, _P, _K, _S, _L, _C, _Q, _V] = None
    compact_at: Annotated[_Number, _P, _K, _S, _L, _V] = None
    allowed: Annotated[bool, _P, _K] = False
    seed: Annotated[int | None, _P, _K] = None
    replicate: Annotated[int | None, _P, _K] = None
    tokens_before: Annotated[int | None, _M] = None
    tokens_after: Annotated[int | None, _M] = None
    summary_draw: Annotated[str | None, _M] = None
    summary_retries: Annotated[int | None, _M] = None
    summary_cut: Annotated[int | None, _M] = None
    removed_characters: Annotated[float | None, _M] = None
    removed_tokens: Annotated[float | None, _M] = None
    degenerate: Annotated[bool | None, _M] = None
    degenerate_because: Annotated[str | None, _M] = None
    seconds_defense: Annotated[float | None, _M] = None

    @classmethod
    def read(cls, metadata: Mapping[str, Any], of: str) -> Self:
        """Return the facts in a sample's metadata, which may hold more than facts."""
        known = {name: value for name, value in metadata.items() if name in cls.model_fields}
        try:
            return cls.model_validate(known)
        except ValidationError as error:
            first = error.errors()[0]
            raise ConstraintRotError(
                f"{of}: the fact {first['loc'][0]} is {first['input']!r}, which version"
                f" {cls.VERSION} of the facts does not know; read it with the version that wrote it"
            ) from error


@cache
def names(role: Role) -> tuple[str, ...]:
    """The facts that have a role, in the model's order."""
    fields = EpisodeFacts.model_fields.items()
    return tuple(name for name, field in fields if role in field.metadata)


COLUMNS = tuple(name for name in EpisodeFacts.model_fields if name != "allowed")
"""The facts that a frame has as columns; ``allowed``, which splits all rates, is apart."""

KEYS = names(Role.KEY)
"""Columns that arms are matched on, unless an arm fixes them."""

CLUSTER = ("family", "seed")
"""Columns of a variant, whose replicates, locales and wordings are not independent."""

REQUEST = ("family", "allowed", "request")
"""Columns of a request's text: variants that share it are one cluster (``report.arms.labels``)."""

SESSION = "session"
"""Column of the recorded session that is the episode's history; its episodes are one cluster."""

POLICY = ("family", "locale", "wording", "split", "policy_phrasing")
"""Columns that the sentence of a policy depends on."""

LATER: Mapping[str, str] = {"system_prompt": "short", "asked_by": "same", "tools": "all"}
"""Facts that logs of earlier versions lack, and the values that those were played with.

A sample states such a fact only if its value differs.
"""

IDENTITY = ("family", "locale", "seed", "replicate", "allowed")
"""Columns that identify an episode; arms are always matched on them."""
