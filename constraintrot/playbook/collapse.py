"""The context-collapse probe: size and content of a memory, step by step (ACE, Figure 2).

At each step a memory is shown a few facts and now and then a rule, and learns. After it,
what the memory holds is counted: tokens, facts whose value it still has, and rules that it
still has word for word, or at least with all the words that matter in one line. The one-step
shrink is the largest share of its tokens that a memory lost in one step.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser

from constraintrot import tokens
from constraintrot.playbook.memory import Memory

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
    """Something that a memory is shown.

    Attributes:
        text: the sentence.
        words: what has to stand in one line for it to be kept.
        rule: whether it is a rule.
    """

    text: str
    words: tuple[str, ...]
    rule: bool = False

    def kept(self, lines: Sequence[str]) -> bool:
        """Whether one of the lines, in lower case, holds all its words."""
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
    """What a memory is shown at a step, from 1: facts, and at every so many steps a rule first."""
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
    """The largest share of its tokens that a memory lost in one step, 0 to 1."""
    lost = (1 - after / before for before, after in pairwise(sizes) if before)
    return max(0.0, *lost, 0.0)


def _said(new: Sequence[Fact]) -> list[ChatMessage]:
    rules = " ".join(one.text for one in new if one.rule)
    facts = "\n".join(one.text for one in new if not one.rule)
    user = f"{rules}\n{facts}".strip()
    return [ChatMessageUser(content=user), ChatMessageAssistant(content="Noted.")]
