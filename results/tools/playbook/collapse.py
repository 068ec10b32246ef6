"""The context-collapse probe: size and content of a memory, step by step (ACE, Figure 2).

At each step a memory is shown a few facts and now and then a rule, and learns. Then its
content is counted: tokens, facts whose value it still has, and rules that it still has word
for word, or at least with all the words that matter in one line. The one-step shrink is the
largest share of its tokens that a memory lost in one step. Each step is in a CSV as soon as
it is measured.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, Model

from constraintrot import tokens
from constraintrot.compactors import budget_tokens
from constraintrot.memory.playbook import APPEND_ONLY, COUNTERS_ONLY, LAZY, PROACTIVE, Playbook
from constraintrot.memory.playbook.adaptation import Memory, PlaybookMemory
from results.tools.playbook.adaptation import RewrittenMemory

_PLACES = ("Oslo", "Lima", "Riga", "Bern", "Quito", "Hanoi", "Accra", "Turin", "Perth", "Sofia")
_THINGS = (
    "the invoice run", "the badge printer", "the night shift", "the parts store", "the backup host",
    "the call queue", "the test bench", "the delivery van", "the meeting room", "the price list",
)  # fmt: skip
_RULES = (
    ("Never send a payment above {n} dollars from {place}.", ("payment", "{n}", "{place}")),
    (
        "Mail about {place} goes only to addresses at team{n}.example.com.",
        ("{place}", "team{n}.example.com"),
    ),
    (
        "Do not delete records of {place} that are younger than {n} days.",
        ("delete", "{place}", "{n}"),
    ),
    ("A visitor of {place} must not stay longer than {n} minutes.", ("visitor", "{place}", "{n}")),
)
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Fact:
    """A fact or a rule that a memory is shown.

    Attributes:
        text: the sentence.
        words: what has to stand in one line for it to be kept.
        rule: whether it is a rule.
    """

    text: str
    words: tuple[str, ...]
    rule: bool = False

    def kept(self, lines: Sequence[str]) -> bool:
        """Return whether one of the lines, in lower case, holds all its words."""
        return any(all(word in line for word in self.words) for line in lines)


@dataclass(frozen=True)
class Measured:
    """A memory after a step.

    Attributes:
        step: from 1.
        tokens: of the rendered memory.
        facts: shown so far, rules left out.
        facts_kept: of these.
        rules: shown so far.
        rules_kept: of these, with all words that matter in one line.
        rules_verbatim: of these, word for word.
        calls: of models, in this step.
        input_tokens: sent in this step.
        output_tokens: written in this step.
        seconds: waited for models in this step.
    """

    step: int
    tokens: int
    facts: int
    facts_kept: int
    rules: int
    rules_kept: int
    rules_verbatim: int
    calls: int
    input_tokens: int
    output_tokens: int
    seconds: float


def shown(step: int, facts: int, rule_every: int) -> list[Fact]:
    """Return the facts of a step, from 1; every ``rule_every`` steps a rule comes first."""
    found: list[Fact] = []
    if (step - 1) % rule_every == 0:
        number = (step - 1) // rule_every
        text, words = _RULES[number % len(_RULES)]
        values = {"n": str(40 + 3 * number), "place": _PLACES[number % len(_PLACES)]}
        filled = tuple(word.format(**values).casefold() for word in words)
        found.append(Fact(text.format(**values), filled, rule=True))
    for at in range(facts):
        number = (step - 1) * facts + at
        thing, place = _THINGS[number % 10], _PLACES[number // 10 % 10]
        text = f"In {place}, {thing} has the code {number * 7919 % 90_000 + 10_000} this week."
        found.append(Fact(text, (str(number * 7919 % 90_000 + 10_000),)))
    return found


async def probe(
    memory: Memory, *, steps: int = 80, facts: int = 12, rule_every: int = 8, first: int = 1
) -> AsyncIterator[Measured]:
    """Show a memory facts and rules, and measure it after each step.

    Args:
        memory: what learns.
        steps: number of the last step; the paper's collapse came after step 60.
        facts: new facts at each step.
        rule_every: steps from one new rule to the next.
        first: step to begin with, where the memory holds what earlier steps left.
    """
    past = [one for step in range(1, first) for one in shown(step, facts, rule_every)]
    for step in range(first, steps + 1):
        new = shown(step, facts, rule_every)
        past += new
        cost = await memory.learn(_said(new), "", f"step {step}")
        text = memory.render()
        lines = [line.casefold() for line in text.splitlines()]
        plain = _SPACE.sub(" ", text)
        rules = [one for one in past if one.rule]
        others = [one for one in past if not one.rule]
        yield Measured(
            step, tokens.count(text), len(others), sum(one.kept(lines) for one in others),
            len(rules), sum(one.kept(lines) for one in rules),
            sum(one.text in plain for one in rules),
            cost.calls, cost.input_tokens, cost.output_tokens, round(cost.seconds, 3),
        )  # fmt: skip


def one_step_shrink(sizes: Sequence[int]) -> float:
    """Return the largest share of its tokens that a memory lost in one step, 0 to 1."""
    lost = (1 - after / before for before, after in pairwise(sizes) if before)
    return max(0.0, *lost, 0.0)


def _said(new: Sequence[Fact]) -> list[ChatMessage]:
    rules = " ".join(one.text for one in new if one.rule)
    facts = "\n".join(one.text for one in new if not one.rule)
    user = f"{rules}\n{facts}".strip()
    return [ChatMessageUser(content=user), ChatMessageAssistant(content="Noted.")]


COLUMNS: Final = ("model", "memory", *(one.name for one in fields(Measured)))


def memories(model: Model, words: int) -> Mapping[str, Callable[[], Memory]]:
    """Return the memories by name, with one model in all roles, as in the paper.

    Args:
        model: reflects, curates and rewrites.
        words: word budget of the memories that keep one.
    """

    def playbook(**settings: Any) -> Callable[[], Memory]:
        return lambda: PlaybookMemory(Playbook(**settings), model, model)

    budget = budget_tokens(words)
    return {
        "rewrite": lambda: RewrittenMemory(model),
        "rewrite, budget": lambda: RewrittenMemory(model, words),
        "append only": playbook(refinement=APPEND_ONLY),
        "proactive": playbook(budget=budget, refinement=PROACTIVE),
        "lazy": playbook(budget=budget, refinement=LAZY),
        "counters, no kinds": playbook(budget=budget, refinement=COUNTERS_ONLY),
    }


async def measure(
    name: str, label: str, make: Callable[[], Memory], path: Path, settings: Mapping[str, int]
) -> None:
    """Measure one memory and append its steps, after the last step in the file.

    Args:
        name: of the memory.
        label: how its model is called in the file.
        make: makes the memory.
        path: the CSV.
        settings: ``steps``, ``facts`` and ``rule_every`` of the probe.
    """
    memory, first = make(), 1
    left = path.with_name(f"{path.stem}.{label}.{name}.state.json".replace("/", "-"))
    if left.is_file():
        state = json.loads(left.read_text(encoding="utf-8"))
        first = state["step"] + 1
        if isinstance(memory, PlaybookMemory):
            memory.playbook.fill(state["memory"])
        elif isinstance(memory, RewrittenMemory):
            memory.notes = state["memory"]
    _forget(path, label, name, first)
    async for row in probe(memory, first=first, **settings):
        _append(path, {"model": label, "memory": name, **asdict(row)})
        fresh = left.with_suffix(".new")
        fresh.write_text(json.dumps({"step": row.step, "memory": _state(memory)}), encoding="utf-8")
        fresh.replace(left)
    _done(left)


def _done(left: Path) -> None:
    left.unlink(missing_ok=True)


def _forget(path: Path, label: str, name: str, first: int) -> None:
    """Drop rows of steps that are measured anew: of a run that was killed before its state."""
    if not path.is_file():
        return
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    kept = [
        row
        for row in rows
        if (row["model"], row["memory"]) != (label, name) or int(row["step"]) < first
    ]
    if len(kept) < len(rows):
        path.unlink()
        for row in kept:
            _append(path, row)


def _state(memory: Memory) -> Any:
    if isinstance(memory, PlaybookMemory):
        return memory.playbook.plain()
    return memory.render()


def _append(path: Path, row: Mapping[str, object]) -> None:
    new = not path.is_file()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(row)
