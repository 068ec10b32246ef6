"""The exceptions of this package.

::

    ConstraintRotError
    ├── ScenarioError        a scenario file, or a request to it, is wrong
    ├── UnknownNameError     no such task, compactor, attack, defense, harness ...
    ├── DuplicateNameError   a second component under a name that is taken
    ├── ParameterError       a task parameter is unknown or out of its range
    ├── EpisodeError         the machinery broke a rule of the measurement
    │   └── NoSummaryError   the summarizer wrote nothing, when asked again too
    ├── EmbeddingError       no embedder, or one whose vectors cannot be used
    ├── MissingExtraError    an extra of the package is not installed
    └── WeightsError         a local model's weights are missing, wrong or unobtainable

A model's fault (a violation, silence, a malformed call) is a score, never an
exception.
"""

from collections.abc import Iterable


class ConstraintRotError(Exception):
    """Base class of this package's errors; the message says what to do."""


class ScenarioError(ConstraintRotError, ValueError):
    """A scenario file is wrong, or was asked for a locale, wording or value that it lacks."""


class UnknownNameError(ConstraintRotError, LookupError):
    """No component, task or condition has this name.

    Attributes:
        noun: the kind that was looked up.
        name: the unknown name.
        known: the known names, sorted.
    """

    def __init__(self, noun: str, name: str, known: Iterable[str]) -> None:
        self.noun, self.name, self.known = noun, name, sorted(known)
        super().__init__(f"unknown {noun} {name!r}; known: {', '.join(self.known) or 'none'}")


class DuplicateNameError(ConstraintRotError, ValueError):
    """A component was registered under a name that is already taken."""


class ParameterError(ConstraintRotError, ValueError):
    """A task parameter is unknown, or its value is not allowed."""


class EpisodeError(ConstraintRotError, RuntimeError):
    """An episode broke a rule of the measurement; the sample fails with an error."""


class NoSummaryError(EpisodeError):
    """The summarizer wrote nothing even when asked again, so the episode shows no policy decay."""


class EmbeddingError(ConstraintRotError, RuntimeError):
    """Embeddings are needed, and there is no usable embedder."""


class MissingExtraError(ConstraintRotError, ImportError):
    """An extra of the distribution is not installed; the message has the command to install it."""


class WeightsError(ConstraintRotError, RuntimeError):
    """The weights of a local model are missing or damaged, or could not be downloaded."""
