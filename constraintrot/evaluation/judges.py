"""Asking the role ``judge``."""

from __future__ import annotations

from inspect_ai.model import GenerateConfig, Model, model_roles

from constraintrot.grading.judge import read_vote


async def judge_votes(prompt: str) -> list[bool | None] | None:
    """What each model in the role ``judge`` answers, yes or no.

    Args:
        prompt: a question that wants YES or NO.

    Returns:
        A vote a model, None where it says neither; None where nobody has the role.
    """
    judges = model_roles().get("judge")
    if judges is None:
        return None
    models: list[Model] = judges if isinstance(judges, list) else [judges]
    votes: list[bool | None] = []
    for model in models:
        output = await model.generate(prompt, config=GenerateConfig(max_tokens=512))
        votes.append(read_vote(output.completion))
    return votes
