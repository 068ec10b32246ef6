"""The figures of an adapter, with an engine whose answers are known."""

import math
from typing import Any

import pytest

from constraintrot.models.in_process.prompt import Prompt, as_text
from constraintrot.models.in_process.server import Completion
from results.tools.acting.evaluate import CELLS, answers, cell_of, summary
from results.tools.acting.generator import examples
from results.tools.acting.measures import Decision, rates
from results.tools.acting.rendering import answer
from results.tools.roc import auc

MADE = examples("held_out", 2000, 12)


class Agent:
    """An engine that gives these answers, one after another."""

    def __init__(self, given: list[str]) -> None:
        self.given, self.prompts = given, list[str]()

    def tokens(self, prompt: Prompt) -> list[int]:
        self.prompts.append(as_text(prompt))
        return [1, 2]

    def complete(self, prompt: list[int], settings: Any, cancelled: object) -> Completion:
        assert settings["json_schema"]["anyOf"]
        return Completion(self.given[len(self.prompts) - 1], "stop", 2, 0, 1, {})

    def close(self) -> None: ...


def test_an_agent_that_is_always_right_is_told_to_be() -> None:
    asked = [one for example in MADE for one in example.questions]
    agent = Agent([answer(one) for one in asked])
    found = summary(list(answers(agent, MADE)))
    assert list(found) == list(CELLS)
    assert [found[cell]["acted"] for cell in CELLS] == [0, 1, 1]
    assert [found[cell]["exact"] for cell in CELLS] == [0, 1, 1]
    assert sum(found[cell]["requests"] for cell in CELLS) == len(asked) == len(agent.prompts)
    assert asked[0].asked.text in agent.prompts[0]


@pytest.mark.parametrize("text", ['{"name": "decline", "arguments": {"reason": "No."}}', "broken"])
def test_refusals_and_malformed_answers_are_no_acts(text: str) -> None:
    count = sum(len(example.questions) for example in MADE)
    found = summary(list(answers(Agent([text] * count), MADE)))
    assert [found[cell]["acted"] for cell in CELLS] == [0, 0, 0]


def test_another_call_is_an_act_and_not_exact() -> None:
    one = MADE[0].questions[0]
    given = f'{{"name": "{one.asked.tool}", "arguments": {{"other": 1}}}}'
    (first, *_) = answers(Agent([given] * len(MADE[0].questions)), MADE[:1])
    assert (first.cell, first.acted, first.exact) == (cell_of(one), True, False)


def test_rates_are_shares_of_their_cells() -> None:
    some = [
        Decision("a", "early", 2.0, declined=True, breaks=True),
        Decision("a", "early", -1.0, declined=True, breaks=True),
        Decision("a", "early", -2.0, declined=False, breaks=False),
        Decision("b", "absent", 1.0, declined=False, breaks=True),
        Decision("b", "absent", 3.0, declined=False, breaks=False),
    ]
    found = rates(some)
    assert (found["control"], found["allowed"], found["floor"]) == (0.5, 1.0, 0.0)
    assert (found["auc_allowed"], found["auc_floor"]) == (1.0, 0.5)
    assert math.isnan(auc([], [1.0]))
