"""Asking the role ``judge``."""

from __future__ import annotations

from inspect_ai.model import GenerateConfig, Model, model_roles


async def judge_answers(prompt: str) -> list[str] | None:
    """Return the answers of the models in the role ``judge``.

    Args:
        prompt: what each is asked.

    Returns:
        One answer per model; None if nobody has the role.
    """
    judges = model_roles().get("judge")
    if judges is None:
        return None
    models: list[Model] = judges if isinstance(judges, list) else [judges]
    config = GenerateConfig(max_tokens=512)
    return [(await model.generate(prompt, config=config)).completion for model in models]
