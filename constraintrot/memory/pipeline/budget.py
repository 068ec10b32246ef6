"""The token budget of a request, in all and by category."""

from dataclasses import dataclass
from typing import Final

from constraintrot.errors import ParameterError


@dataclass(frozen=True)
class Budget:
    """The largest number of tokens, in all and by category.

    Attributes:
        total: the whole input; the rest of the window is for the answer.
        system: system messages; they are never cut.
        tools: definitions of tools.
        most_tools: the number of tools.
        memory: entries of a memory.
        most_memories: the number of these entries.
        retrieval: retrieved texts, including results of tools.
        most_retrieved: the number of retrieved texts.
        domain: texts that a domain's enrichment adds.
        history: all other messages.
        query: the request; it is never cut.
    """

    total: int = 100_000
    system: int = 4_000
    tools: int = 8_000
    most_tools: int = 12
    memory: int = 3_000
    most_memories: int = 10
    retrieval: int = 15_000
    most_retrieved: int = 8
    domain: int = 2_000
    history: int = 60_000
    query: int = 8_000

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
