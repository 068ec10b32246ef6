"""The benefit of adaptation: each memory on the desk task against none, request by request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from inspect_ai.model import ChatMessage, ChatMessageUser, Model, get_model

from constraintrot import tokens
from constraintrot.compactors import budget_tokens
from constraintrot.memory.playbook import Playbook
from constraintrot.memory.playbook.adaptation import (
    Memory,
    PlaybookMemory,
    Step,
    evaluate,
    offline,
    online,
)
from constraintrot.memory.playbook.prompts import rewrite
from constraintrot.memory.playbook.roles import MAX_TOKENS, Cost, ask
from constraintrot.stats.interval import Interval
from constraintrot.stats.paired import Comparison, compare
from results.tools.playbook import desk


class Nothing:
    """No memory; the baseline."""

    def render(self) -> str:
        return ""

    async def learn(self, messages: Sequence[ChatMessage], feedback: str, source: str) -> Cost:
        return Cost()


class RewrittenMemory:
    """Notes that a model rewrites as a whole at each step (Dynamic Cheatsheet, cumulative).

    Args:
        rewriter: the model, or its name.
        words: word budget of the notes, in words; None for any number.
    """

    def __init__(self, rewriter: str | Model, words: int | None = None) -> None:
        self.rewriter, self.words = get_model(rewriter), words
        self.notes = ""

    def render(self) -> str:
        return self.notes

    async def learn(self, messages: Sequence[ChatMessage], feedback: str, source: str) -> Cost:
        said = [ChatMessageUser(content=f"Feedback: {feedback}")] if feedback else []
        question = ChatMessageUser(content=rewrite(self.notes, self.words))
        # All notes have to fit into the answer, or the limit would be the collapse.
        limit = MAX_TOKENS + (3 * self.words if self.words else 2 * tokens.count(self.notes))
        text, cost = await ask(self.rewriter, [*messages, *said, question], [], limit)
        self.notes = text.strip()
        return cost


@dataclass(frozen=True)
class Row:
    """A memory on the test requests.

    Attributes:
        model: in all roles.
        setting: ``offline`` (learned on the training requests) or ``online``.
        memory: which.
        n: test requests.
        solved: of these.
        better: requests that it solved and no memory did not.
        worse: the reverse.
        difference: solved less solved without a memory, as a share.
        lower: of the 95 % interval.
        upper: of the same.
        p_value: exact, paired, two-sided.
        steps: of adaptation.
        input_tokens: of the models that learn, a step.
        output_tokens: the same.
        seconds: the same.
        size: tokens of the memory at the end.
    """

    model: str
    setting: str
    memory: str
    n: int
    solved: int
    better: int
    worse: int
    difference: float
    lower: float | None
    upper: float | None
    p_value: float
    steps: int
    input_tokens: float
    output_tokens: float
    seconds: float
    size: int


async def adaptation(
    model: Model, label: str, *, epochs: int, words: int, most: int | None
) -> list[Row]:
    """Measure all memories, offline and online, against none.

    Args:
        model: Generator, Reflector, Curator and rewriter, as the paper has it.
        label: how it is called in the rows.
        epochs: over the training requests.
        words: word budget of each memory.
        most: requests of each split at most; None for all.
    """
    play = desk.play(model)
    training, test = (desk.requests(test=test)[:most] for test in (False, True))
    baseline = await evaluate(Nothing(), test, play)
    rows: list[Row] = []
    for name in ("playbook", "rewrite"):
        memory = _memory(name, model, words)
        steps = await offline(memory, training, play, epochs=epochs)
        solved = await evaluate(memory, test, play)
        rows.append(_row((label, "offline", name), baseline, solved, steps))
        memory = _memory(name, model, words)
        steps = await online(memory, test, play)
        rows.append(_row((label, "online", name), baseline, [s.success for s in steps], steps))
    return rows


def _memory(name: str, model: Model, words: int) -> Memory:
    if name == "rewrite":
        return RewrittenMemory(model, words)
    return PlaybookMemory(Playbook(budget=budget_tokens(words)), model, model)


def _row(
    names: tuple[str, str, str], baseline: Sequence[bool], solved: Sequence[bool],
    steps: Sequence[Step],
) -> Row:  # fmt: skip
    found: Comparison = compare(np.array(baseline, float), np.array(solved, float))
    limits = found.difference
    n = len(steps)
    reads, writes, seconds = (round(total / n, 4) for total in _totals(steps))
    return Row(
        *names, len(solved), sum(solved), found.only_b, found.only_a,
        round(found.difference.estimate, 4),
        round(limits.lower, 4) if isinstance(limits, Interval) else None,
        round(limits.upper, 4) if isinstance(limits, Interval) else None,
        float(f"{found.p_value:.3g}"), n, reads, writes, seconds, steps[-1].size,
    )  # fmt: skip


def _totals(steps: Sequence[Step]) -> Iterator[float]:
    yield sum(one.cost.input_tokens for one in steps)
    yield sum(one.cost.output_tokens for one in steps)
    yield sum(one.cost.seconds for one in steps)
