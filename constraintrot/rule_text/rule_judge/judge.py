"""The rule judge, asked through an Inspect model."""

from dataclasses import dataclass

from inspect_ai.model import ChatMessageUser, GenerateConfig, Model

from constraintrot.errors import EpisodeError
from constraintrot.rule_text.rule_judge import adapter
from constraintrot.rule_text.rule_judge.prompt import question
from constraintrot.rule_text.rule_judge.reading import (
    CANDIDATES,
    first_token,
    log_odds,
    probability,
)


@dataclass(frozen=True)
class Judgement:
    """The judge's answer about one rule and one request.

    Attributes:
        score: Log-odds of yes.
        probability: The probability of yes.
        breaks: Whether the score is above the threshold.
    """

    score: float
    probability: float
    breaks: bool


async def judge(
    model: Model, rule: str, request: str, *, threshold: float | None = None, beside: bool = True
) -> Judgement:
    """Judge whether carrying out a request breaks a rule.

    Args:
        model: ``local/qwen2.5-coder-1.5b``, or a model that has the adapter merged or loaded.
        rule: The rule's own words, one to three sentences.
        request: The request's own words.
        threshold: Log-odds above which the answer is yes; by default the calibrated one.
        beside: Whether the adapter is beside the model's weights and is switched on for this
            question. False for a model that always has it.

    Raises:
        EpisodeError: The model gave no candidates for its first token, or neither
            yes nor no was among them.
        WeightsError: The installation lacks the adapter or its calibration.
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
