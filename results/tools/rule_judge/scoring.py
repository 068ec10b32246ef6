"""The judge's scores of examples: log-odds of yes against no, under the base model and factors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import torch
from tokenizers import Tokenizer

from constraintrot.rule_text.rule_judge.reading import NO, YES, question
from results.tools.rule_judge import tokenizer as tokenizers
from results.tools.rule_judge.base_model import BaseModel, Factors, pack
from results.tools.rule_judge.generator import Example

_CHAT = "<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"


class Scorer:
    """The base model with its tokenizer."""

    def __init__(self, weights: Path) -> None:
        self.model = BaseModel(weights)
        self._tokenizer: Tokenizer = tokenizers.load(weights)
        self._words = [self._single(NO), self._single(YES)]

    def _single(self, word: str) -> int:
        ids = self._tokenizer.encode(word).ids
        if len(ids) != 1:
            raise ValueError(f"{word!r} is {len(ids)} tokens; the judge's answer must be one")
        return int(ids[0])

    def ids(self, example: Example) -> list[int]:
        """The token ids of one question."""
        asked = question(example.rule, example.request)
        return list(self._tokenizer.encode(_CHAT.format(question=asked)).ids)

    def scores(
        self, examples: Sequence[Example], factors: Factors | None = None, scale: float = 1
    ) -> torch.Tensor:
        """Log-odds of yes, in the order of the examples, which stay beside their group."""
        groups = [
            [self.ids(example) for example in group]
            for _, group in groupby(examples, lambda example: example.group)
        ]
        logits = self.model.logits(pack(groups), self._words, factors, scale)
        return logits[:, 1] - logits[:, 0]
