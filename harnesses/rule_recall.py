"""Recall, the first step of the scaffold ``review``: which rules did a conversation state?

A model is asked once about the whole conversation, and lists its rules. A model in this
process is too small for that: it found the rules in about half of the conversations of a
thousand tokens, and invented others. It is asked about each passage instead, and about each
sentence of a doubtful passage; its rules are the likeliest four with likely enough a yes.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from inspect_ai.model import ChatMessage, ChatMessageUser, GenerateConfig, Model
from inspect_ai.tool import ToolInfo

from constraintrot.episode.scaffold.grounding import passages
from constraintrot.episode.scaffold.instructions import is_in_process
from constraintrot.episode.scaffold.review import (
    LEAST_ODDS,
    MOST_RULES,
    PASSAGE_QUESTION,
    SOME_ODDS,
    read_recall,
)
from constraintrot.evaluation.probe import rules_given
from constraintrot.rule_text.rule_judge.reading import CANDIDATES, any_case_log_odds, first_token

NO_ANSWER = -9.0
"""Log-odds for a passage for which the model answers neither yes nor no."""


@dataclass(frozen=True)
class Recall:
    """An agent's answer about its rules, and the rules in it."""

    answer: str
    rules: tuple[str, ...]


async def recall(
    model: Model,
    context: Sequence[ChatMessage],
    given: Sequence[str],
    locale: str,
    tools: Sequence[ToolInfo],
) -> Recall:
    """Ask a model for the rules of a conversation."""
    if is_in_process(model):
        return await _by_passage(model, passages(given))
    answer = await rules_given(model, context, locale, tools)
    return Recall(answer, tuple(read_recall(answer)))


async def _by_passage(model: Model, texts: Sequence[str]) -> Recall:
    odds: dict[str, float] = {}
    for text in texts:
        odds[text] = await _odds(model, text)
        # A rule among other sentences, as in a summary, gives a doubtful passage.
        if SOME_ODDS < odds[text] <= LEAST_ODDS:
            parts = passages([text], sentences=1)
            odds |= {part: await _odds(model, part) for part in parts if part not in odds}
    likely = sorted((value, text) for text, value in odds.items() if value > LEAST_ODDS)
    chosen = {text for _, text in likely[-MOST_RULES:]}
    answer = json.dumps(odds, ensure_ascii=False)
    return Recall(answer, tuple(text for text in odds if text in chosen))


async def _odds(model: Model, passage: str) -> float:
    """Return the log-odds of yes for a passage; an answer with neither word counts as no."""
    config = GenerateConfig(max_tokens=1, logprobs=True, top_logprobs=CANDIDATES)
    asked = ChatMessageUser(content=PASSAGE_QUESTION.format(passage=" ".join(passage.split())))
    output = await model.generate([asked], config=config)
    value = any_case_log_odds(first_token(output) or ())
    return NO_ANSWER if value is None else round(value, 2)
