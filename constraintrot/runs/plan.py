"""The size of a run before anything is played: episodes, model calls and tokens."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from inspect_ai import Task
from inspect_ai.util import registry_create

from constraintrot.errors import ConstraintRotError, ParameterError

# Assumed tokens: of a call besides the history (preamble, policy, request, form of the answer),
# of the tools on offer, of an answer and of a summary.
ASKED, TOOLS, ANSWERED, SUMMARISED = 600, 2100, 150, 300
# The fewest tokens of a part that ``hierarchical`` summarises, and the calls of the scaffold
# ``review`` and of the verifier (a step), where one rule is found.
_PART, _REVIEWED, _VERIFIED = 350, 2, 2
_GATES = ("tool_gate", "pin_gate")
# Compactors that cut; all others ask a model.
_CUTS = ("none", "truncate", "head_tail", "inspect_trim", "inspect_edit")


@dataclass(frozen=True)
class Size:
    """The size of a cell; tokens are those of the fewest calls and of the most.

    Attributes:
        input_tokens: of all calls, fewest and most.
        cached_tokens: input that an earlier call of the same episode sent too; likewise.
    """

    episodes: int = 0
    requests: int = 0
    input_tokens: tuple[int, int] = (0, 0)
    output_tokens: tuple[int, int] = (0, 0)
    cached_tokens: tuple[int, int] = (0, 0)

    def __add__(self, other: Size) -> Size:
        return Size(
            self.episodes + other.episodes,
            self.requests + other.requests,
            _sum(self.input_tokens, other.input_tokens),
            _sum(self.output_tokens, other.output_tokens),
            _sum(self.cached_tokens, other.cached_tokens),
        )

    def times(self, number: int) -> Size:
        tokens = (self.input_tokens, self.output_tokens, self.cached_tokens)
        ranges = [(low * number, high * number) for low, high in tokens]
        return Size(self.episodes * number, self.requests * number, *ranges)


@dataclass(frozen=True)
class Planned:
    """A planned episode.

    The history is in tokens; the compactor is "none" if nothing compacts it.
    """

    condition: str
    compactor: str
    defense: str
    history: int
    rounds: int
    digest: str


def counted(task: str, args: Mapping[str, Any]) -> Size:
    """Return the size of a cell without replicates."""
    total = sum((_episode(one, args) for one in planned(task, args)), Size())
    return total.times(args["variants"]) if _by_one(task, args) else total


def planned(task: str, args: Mapping[str, Any]) -> tuple[Planned, ...]:
    """Return a cell's episodes, or those of one variant of each family that stands for all."""
    return _planned(task, json.dumps(dict(args), sort_keys=True))


@lru_cache(maxsize=100_000)
def _planned(task: str, text: str) -> tuple[Planned, ...]:
    args: dict[str, Any] = json.loads(text)
    if _by_one(task, args):
        # The last variant: a seed that is too large fails here too.
        args |= {"seed": args.get("seed", 0) + args["variants"] - 1, "variants": 1}
    return _built(task, args)


def _by_one(task: str, args: Mapping[str, Any]) -> bool:
    variants = args.get("variants")
    return task.startswith("constraintrot/") and isinstance(variants, int) and variants > 0


def task_named(name: str, args: Mapping[str, Any]) -> Task:
    # Inspect finds only tasks and models whose modules are imported.
    import constraintrot._registry

    assert constraintrot._registry
    made = registry_create("task", name, **args)
    assert isinstance(made, Task)
    return made


def _built(task: str, args: Mapping[str, Any]) -> tuple[Planned, ...]:
    try:
        made = task_named(task, args)
    except LookupError as error:
        raise ParameterError(
            f"unknown task {task!r}; an installed Inspect package registers tasks by name, as"
            " constraintrot/suite"
        ) from error
    except Exception as error:
        # Our errors come wrapped for Inspect's command line, with the original as the cause.
        cause = error if isinstance(error, ConstraintRotError) else error.__cause__
        if isinstance(cause, ConstraintRotError):
            raise cause from error
        raise ParameterError(f"{task} cannot be made: {error}") from error
    return tuple(_one(sample.metadata or {}) for sample in made.dataset)


def _one(facts: Mapping[str, Any]) -> Planned:
    history, rounds = facts.get("context_tokens"), facts.get("rounds")
    text = json.dumps(facts, sort_keys=True, default=repr)
    return Planned(
        str(facts.get("condition")),
        str(facts.get("compactor", "none")),
        str(facts.get("defense", "none")),
        history if isinstance(history, int) else 2000,
        rounds if isinstance(rounds, int) else 0,
        hashlib.sha256(text.encode()).hexdigest(),
    )


def _episode(one: Planned, args: Mapping[str, Any]) -> Size:
    """Return an episode's size: 1 to ``steps`` calls of the agent, summaries, checks, questions."""
    steps = int(args.get("steps", 4))
    rounds = 0 if one.compactor in _CUTS else max(one.rounds, 1)
    summaries = rounds * (one.history // _PART + 2 if one.compactor == "hierarchical" else 1)
    # The probe and the question of awareness follow the episode, with its context.
    asked = sum(args.get(name) is True for name in ("probe", "awareness"))
    checks = _REVIEWED * (args.get("scaffold") == "review")
    checks += _VERIFIED * steps * (one.defense in _GATES)
    # After a compaction the agent reads the summary and the last turns: less than half.
    read = ASKED + TOOLS + (one.history if not one.rounds else one.history // 2)
    compacted = rounds * one.history + summaries * ASKED
    wrote = summaries * SUMMARISED
    most = steps + asked
    return Size(
        1,
        most + summaries + checks,
        (read * (1 + asked) + compacted, read * most + compacted + checks * ASKED),
        (ANSWERED * (1 + asked) + wrote, ANSWERED * (most + checks) + wrote),
        (0, read * (steps - 1)),
    )


def _sum(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    return a[0] + b[0], a[1] + b[1]


def between(low: float, high: float, digits: int) -> str:
    """Return two numbers as a range, or as one number if they look alike."""
    one, other = f"{low:,.{digits}f}", f"{high:,.{digits}f}"
    return one if one == other else f"{one} to {other}"


def millions(tokens: tuple[int, int]) -> str:
    return between(tokens[0] / 1e6, tokens[1] / 1e6, digits=2)
