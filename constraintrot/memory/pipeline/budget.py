"""The token budget of a request, in all and by category."""

from dataclasses import dataclass
from typing import Final

from constraintrot.errors import ParameterError


@dataclass(frozen=True)
class Budget:
    """The largest number of tokens, in all and by category."""

    total: int = 100_000  # the whole input; the rest of the window is for the answer
    system: int = 4_000  # system messages; they are never cut
    tools: int = 8_000  # definitions of tools
    most_tools: int = 12  # the number of tools
    memory: int = 3_000  # entries of a memory
    most_memories: int = 10  # the number of these entries
    retrieval: int = 15_000  # retrieved texts, including results of tools
    most_retrieved: int = 8  # the number of retrieved texts
    domain: int = 2_000  # texts that a domain's enrichment adds
    history: int = 60_000  # all other messages
    query: int = 8_000  # the request; it is never cut

    def __post_init__(self) -> None:
        parts = self.system + self.tools + self.memory + self.retrieval + self.domain
        if min(vars(self).values()) < 1:
            raise ParameterError("every part of a budget is at least 1")
        if parts + self.history + self.query > self.total:
            raise ParameterError(
                f"the parts of the budget take {parts + self.history + self.query} tokens, which"
                f" is more than its total of {self.total}"
            )


DEFAULT = Budget()
# Of the layers' own compactor: turns that stay, and tokens of the summary of all others.
RECENT_TURNS: Final = 10
MOST_SUMMARY: Final = 2_000
