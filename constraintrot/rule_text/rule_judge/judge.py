"""The rule judge, asked through an Inspect model."""

from dataclasses import dataclass

from inspect_ai.model import ChatMessageUser, GenerateConfig, Model

from constraintrot.errors import EpisodeError
from constraintrot.rule_text.rule_judge import adapter
from constraintrot.rule_text.rule_judge.reading import (
    CANDIDATES,
    first_token,
    log_odds,
    probability,
    question,
)


@dataclass(frozen=True)
class Judgement:
    """Log-odds and probability of yes, and whether the score is above the threshold."""

    score: float
    probability: float
    breaks: bool


async def judge(
    model: Model, rule: str, request: str, *, threshold: float | None = None, beside: bool = True
) -> Judgement:
    """Judge whether carrying out a request breaks a rule.

    The model is ``local/qwen2.5-coder-1.5b``, or one with the adapter merged or loaded. ``beside``
    switches on an adapter that is beside the weights for this question. The answer is yes above
    ``threshold`` log-odds, by default the calibrated one.
    """
    limit = adapter.calibration().threshold if threshold is None else threshold
    config = GenerateConfig(
        max_tokens=1,
        logprobs=True,
        top_logprobs=CANDIDATES,
        extra_body={"adapter": adapter.NAME} if beside else None,
    )
    output = await model.generate([ChatMessageUser(content=question(rule, request))], config=config)
    candidates = first_token(output)
    if candidates is None:
        raise EpisodeError(f"{model} gave no log-probabilities, which the rule judge reads")
    score = log_odds(candidates)
    return Judgement(score, probability(score), score > limit)
