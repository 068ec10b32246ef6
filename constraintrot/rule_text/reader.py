"""The interface of readers: which rules a text states, and what became of a rule in a text.

Three readers are behind it: ``words`` (word lists, deterministic, abstains where it is not
sure), ``judge`` (any model in the role ``judge``) and ``local`` (a small model with a trained
adapter). Whoever reads prose for rules asks one of them; no other module does.
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
        text: as it was given.
        slots: by slot, the phrases of which one must stand; empty where nobody declared them.
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
        bound: calibrated probability that somebody who knows the text alone is bound by the
            whole rule; 0 to 1, and .5 where a reader cannot tell and has no probability.
        quote: the words that decided; empty where there are none.
        slots: by slot, whether the quoted words hold it; only readers that use slots fill it.
    """

    state: SurvivalState
    bound: float
    quote: str = ""
    slots: Mapping[str, bool] = field(default_factory=dict[str, bool])

    @property
    def survived(self) -> bool | None:
        """Return whether the rule survived; None where the reader cannot tell."""
        return None if self.state == "cannot tell" else self.state in SURVIVED


@dataclass(frozen=True)
class Passage:
    """A text of a session, and who says it."""

    text: str
    speaker: Speaker = "user"


@dataclass(frozen=True)
class FoundRule:
    """A standing instruction that a passage gives.

    Attributes:
        clause: its words, as they stand in the passage.
        start: offset of its first character in the passage.
        end: offset behind its last character.
        probability: calibrated probability that it is one; 0 to 1.
    """

    clause: str
    start: int
    end: int
    probability: float


class Reader(Protocol):
    """A reader of rules.

    Attributes:
        name: as logs and reports name it: ``words``, ``judge:openai/...``, ``local:...``.
    """

    name: str

    async def rules(self, passages: Sequence[Passage]) -> list[list[FoundRule]]:
        """Find the standing instructions of passages, which are in the order of the session.

        Returns:
            For each passage its rules, in order of their place in it.
        """
        ...

    async def states(self, rules: Sequence[Rule], texts: Sequence[str]) -> list[Reading]:
        """Tell the state of rules in a context.

        Args:
            rules: the rules, each read by itself.
            texts: the messages of the context; of several the best state counts.

        Returns:
            One reading a rule, in the order of the rules.
        """
        ...
