"""Compactors: each an Inspect ``CompactionStrategy``, made by name.

>>> strategy = make(Settings("summarize", budget_words=60))

``truncate`` keeps the recent turns. ``head_tail`` keeps the oldest turn too.
``summarize`` and ``hierarchical`` ask a model for a summary. The ``inspect_*``
compactors are Inspect's built-in strategies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from constraintrot.compactors.prompts import PRESETS
from constraintrot.components import ComponentRegistry, check_made
from constraintrot.errors import ParameterError

if TYPE_CHECKING:
    from inspect_ai.model import CompactionStrategy

MIN_WORDS, MAX_WORDS, DEFAULT_WORDS = 15, 3000, 60
# Number of turns at the end of the history that no compactor of this package changes.
RECENT_TURNS = 2
# Approximate o200k tokens per word of a summary.
_TOKENS_A_WORD = 4 / 3


@dataclass(frozen=True)
class Settings:
    """The settings that a compactor is made from.

    Attributes:
        name: the compactor's name.
        prompt: preset of the summarizer's prompt; None for the compactor's default.
        budget_words: most words that a summary may have, 15 to 3000; None for the
            compactor's default.
        compact_at: compaction threshold in tokens of messages; None if compaction is forced
            after each segment of history.
    """

    name: str
    prompt: str | None = None
    budget_words: int | None = None
    compact_at: int | None = None

    @property
    def threshold(self) -> int | float:
        """Inspect's threshold: an int in tokens, or a float as a share of the context window."""
        return self.compact_at if self.compact_at is not None else 0.9


def budget_tokens(words: int) -> int:
    """Return the approximate length of a summary of ``words`` words, in o200k tokens."""
    return round(words * _TOKENS_A_WORD)


@dataclass(frozen=True)
class Compactor:
    """A registered compactor.

    Attributes:
        factory: makes the strategy from settings with the defaults filled in.
        prompt: default preset; None if the compactor asks no model or its prompt is not a preset.
        budget_words: default word budget; None in the same cases.
        takes: which of the settings ``prompt`` and ``budget_words`` it uses.
    """

    factory: Callable[[Settings], CompactionStrategy]
    prompt: str | None = None
    budget_words: int | None = None
    takes: tuple[str, ...] = ()


Factory: TypeAlias = Callable[[Settings], "CompactionStrategy"]

COMPACTORS: ComponentRegistry[Compactor] = ComponentRegistry(
    "compactor", __name__, "constraintrot.compactors"
)


def compactor(
    name: str,
    *,
    takes: tuple[str, ...] = (),
    prompt: str | None = None,
    budget_words: int | None = None,
) -> Callable[[Factory], Factory]:
    """Register a compactor's factory under a name; the arguments are those of ``Compactor``."""

    def register(factory: Factory) -> Factory:
        COMPACTORS(name)(Compactor(factory, prompt, budget_words, takes))
        return factory

    return register


@dataclass(frozen=True)
class ChosenCompactor:
    """A compactor and its settings, checked and with the defaults filled in."""

    settings: Settings
    compactor: Compactor

    @property
    def asks_model(self) -> bool:
        return bool(self.compactor.takes)

    def make(self) -> CompactionStrategy:
        from inspect_ai.model import CompactionStrategy

        made = self.compactor.factory(self.settings)
        check_made(f"compactor {self.settings.name}", made, CompactionStrategy, ("compact",))
        return made


def resolve(settings: Settings) -> ChosenCompactor:
    """Look up a compactor, check its settings and fill in the defaults.

    Raises:
        UnknownNameError: no such compactor.
        ParameterError: an unknown preset, a word budget out of range, or either of
            them given to a compactor that does not use it.
    """
    compactor = COMPACTORS.get(settings.name)
    if settings.prompt is not None and settings.prompt not in PRESETS:
        raise ParameterError(f"unknown prompt {settings.prompt!r}; known: {', '.join(PRESETS)}")
    words = settings.budget_words
    if words is not None and not MIN_WORDS <= words <= MAX_WORDS:
        raise ParameterError(f"budget_words must be {MIN_WORDS} to {MAX_WORDS}, not {words}")
    for name in ("prompt", "budget_words"):
        if getattr(settings, name) is not None and name not in compactor.takes:
            raise ParameterError(f"compactor {settings.name} has no use for {name}")
    prompt = settings.prompt or compactor.prompt
    if words is None:
        words = compactor.budget_words
    if words is None and prompt not in (None, "inspect_default"):
        words = DEFAULT_WORDS
    return ChosenCompactor(Settings(settings.name, prompt, words, settings.compact_at), compactor)


def make(settings: Settings) -> CompactionStrategy:
    """Make a compactor's strategy."""
    return resolve(settings).make()
