"""The interface of readers: which rules a text states, and the state of a rule in a text.

There are three: ``words`` (word lists, deterministic, abstains if it is not sure), ``judge`` (any
model in the role ``judge``) and ``local`` (a small model with a trained adapter).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias, get_args

from constraintrot.rule_text.survival.states import SURVIVED, SurvivalState

ReaderName: TypeAlias = Literal["words", "judge", "local"]
READERS: tuple[ReaderName, ...] = get_args(ReaderName)

Speaker: TypeAlias = Literal["user", "project file", "tool", "system", "assistant", "summary"]


@dataclass(frozen=True)
class Rule:
    """A rule that is looked for in texts.

    Attributes:
        slots: by slot, phrases one of which a text must hold; empty if undeclared.
        wordings: other texts that count as its own words.
    """

    text: str
    slots: Mapping[str, Sequence[str | int | float]] = field(
        default_factory=dict[str, Sequence[str | int | float]]
    )
    wordings: tuple[str, ...] = ()

    def __hash__(self) -> int:
        """Return a hash without the slots; their mapping is not hashable."""
        return hash((self.text, self.wordings))


@dataclass(frozen=True)
class Reading:
    """The state of one rule in one text.

    Attributes:
        state: the likeliest state, or ``cannot tell``.
        bound: probability that a reader of the text alone is bound by the whole rule, 0 to 1; .5
            if the reader cannot tell and has none. Not calibrated by the reader ``judge``.
        quote: the decisive words; empty if there are none.
        slots: by slot, whether the quoted words hold it; only readers that use slots fill it.
    """

    state: SurvivalState
    bound: float
    quote: str = ""
    slots: Mapping[str, bool] = field(default_factory=dict[str, bool])

    @property
    def survived(self) -> bool | None:
        """Return whether the rule survived; None if the reader cannot tell."""
        return None if self.state == "cannot tell" else self.state in SURVIVED


@dataclass(frozen=True)
class Passage:
    text: str
    speaker: Speaker = "user"


@dataclass(frozen=True)
class FoundRule:
    """A standing instruction, verbatim from ``start`` to before ``end`` of a passage.

    Only the reader ``local`` has a calibrated ``probability``.
    """

    clause: str
    start: int
    end: int
    probability: float


class Reader(Protocol):
    """A reader of rules.

    Attributes:
        name: name in logs and reports: ``words``, ``judge:openai/...``, ``local:...``.
    """

    name: str

    async def rules(self, passages: Sequence[Passage]) -> list[list[FoundRule]]:
        """Return the standing instructions of each passage, in order of their places.

        The passages are in the order of the session.
        """
        ...

    async def states(self, rules: Sequence[Rule], texts: Sequence[str]) -> list[Reading]:
        """Return the state of each rule in a context, in the order of the rules."""
        ...
