"""What can go wrong, by name.

::

    ConstraintRotError
    ├── ScenarioError        a scenario file, or a value asked of it, is wrong
    ├── UnknownNameError     no such task, compactor, attack, defense, harness ...
    ├── DuplicateNameError   a second component under a name that is taken
    ├── ParameterError       a task parameter is unknown or out of its range
    ├── EpisodeError         the machinery broke a rule of the measurement
    │   └── NoSummaryError   the summarizer wrote nothing, when asked again too
    ├── MissingExtraError    an extra of the package is not installed
    └── WeightsError         a local model's weights are missing, wrong or unobtainable

A model's fault (a violation, silence, a malformed call) is a score, never one
of these.
"""

from __future__ import annotations

from collections.abc import Iterable


class ConstraintRotError(Exception):
    """The root of this package's errors; its message says what to do."""


class ScenarioError(ConstraintRotError, ValueError):
    """A scenario file, or something asked of it, is wrong."""


class UnknownNameError(ConstraintRotError, LookupError):
    """A name that nothing is registered under."""

    def __init__(self, noun: str, name: str, known: Iterable[str]) -> None:
        self.noun, self.name, self.known = noun, name, sorted(known)
        super().__init__(f"unknown {noun} {name!r}; known: {', '.join(self.known) or 'none'}")


class DuplicateNameError(ConstraintRotError, ValueError):
    """A component was registered under a name that is already taken."""


class ParameterError(ConstraintRotError, ValueError):
    """A task parameter is unknown, or its value is not allowed."""


class EpisodeError(ConstraintRotError, RuntimeError):
    """An episode broke a rule that keeps the measurement true; the sample fails."""


class NoSummaryError(EpisodeError):
    """The summarizer wrote nothing, also when it was asked once more: no decay of a policy."""


class MissingExtraError(ConstraintRotError, ImportError):
    """Something needs an extra that is not installed; the message has the command."""


class WeightsError(ConstraintRotError, RuntimeError):
    """Weights of a local model are missing, damaged, or could not be fetched."""
