"""A judge's opinion on whether a context still entails what is pinned."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from inspect_ai.model import Model, get_model

from constraintrot.rule_text.judge import JUDGE_PROMPT, read_vote
from constraintrot.rule_text.survival.states import SURVIVED

Judge: TypeAlias = Callable[[str, str], Awaitable[bool | None]]
"""Called with the policies and the context, as texts; returns None if it does not decide."""


def entailment(model: str | Model | None = None) -> Judge:
    """Return a judge of whether a context, taken as a whole, still entails a policy.

    Args:
        model: a model or its name; by default the role ``judge``.
    """

    async def judge(policy: str, context: str) -> bool | None:
        asked = get_model(model) if model is not None else get_model(role="judge")
        prompt = JUDGE_PROMPT.format(policy=policy, context=context)
        state = read_vote((await asked.generate(prompt)).completion)
        return None if state is None else state in SURVIVED

    return judge
