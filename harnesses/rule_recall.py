"""Recall, the first step of the scaffold ``review``: which rules did a conversation state?

A model is asked once, of the whole conversation, and lists them. A model that runs in
this process is too small for that: it found the rules of a conversation of a thousand
tokens in about half of them, and invented others. It is asked of each passage by
itself instead, and of each sentence of a passage that is in doubt; the likeliest four
are its rules, where yes is likely enough.
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
"""Stands for the log-odds of a passage of which the model says neither yes nor no."""


@dataclass(frozen=True)
class Recall:
    """The rules that an agent recalled."""

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
        # A rule between other sentences, as in a summary, makes a passage that is neither.
        if SOME_ODDS < odds[text] <= LEAST_ODDS:
            parts = passages([text], sentences=1)
            odds |= {part: await _odds(model, part) for part in parts if part not in odds}
    likely = sorted((value, text) for text, value in odds.items() if value > LEAST_ODDS)
    chosen = {text for _, text in likely[-MOST_RULES:]}
    answer = json.dumps(odds, ensure_ascii=False)
    return Recall(answer, tuple(text for text in odds if text in chosen))


async def _odds(model: Model, passage: str) -> float:
    """Log-odds of yes; a model that says neither word means no."""
    config = GenerateConfig(max_tokens=1, logprobs=True, top_logprobs=CANDIDATES)
    asked = ChatMessageUser(content=PASSAGE_QUESTION.format(passage=" ".join(passage.split())))
    output = await model.generate([asked], config=config)
    value = any_case_log_odds(first_token(output) or ())
    return NO_ANSWER if value is None else round(value, 2)
