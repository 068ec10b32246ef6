"""The reader's scores of examples: logits of the answers, under the base model and factors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer

from constraintrot.rule_text.rule_reader.prompt import STATES, about_rule, about_sentence
from results.tools.rule_judge import tokenizer as tokenizers
from results.tools.rule_judge.base_model import BaseModel, Factors, pack
from results.tools.rule_reader.generator import LABELS, Example

_CHAT = "<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
ANSWERS = tuple(STATES)


class Scorer:
    """The base model with its tokenizer."""

    def __init__(self, weights: Path, dtype: torch.dtype = torch.bfloat16) -> None:
        self.model = BaseModel(weights, dtype)
        self._tokenizer: Tokenizer = tokenizers.load(weights)
        self._words = [self._single(word) for word in ANSWERS]

    def _single(self, word: str) -> int:
        ids = self._tokenizer.encode(word).ids
        if len(ids) != 1:
            raise ValueError(f"{word!r} is {len(ids)} tokens; the reader's answer must be one")
        return int(ids[0])

    def groups(self, examples: Sequence[Example]) -> list[list[list[int]]]:
        """The token ids of all questions, an example a group."""
        return [[self._ids(question) for question in questions(example)] for example in examples]

    def _ids(self, question: str) -> list[int]:
        return list(self._tokenizer.encode(_CHAT.format(question=question)).ids)

    def logits(
        self, examples: Sequence[Example], factors: Factors | None = None, scale: float = 1
    ) -> torch.Tensor:
        """Logits of the answers, shape (questions, answers); for sentences only yes and no count."""
        found = self.model.logits(pack(self.groups(examples)), self._words, factors, scale)
        for at, example in enumerate(e for e in examples for _ in e.questions):
            if example.task == "standing":
                found = found.index_put(
                    (torch.tensor(at), torch.arange(1, len(ANSWERS) - 1)), torch.tensor(-1e4)
                )
        return found


def questions(example: Example) -> list[str]:
    """The user turns of an example."""
    if example.task == "state":
        return [about_rule(example.text, one.asked) for one in example.questions]
    return [about_sentence(example.speaker, example.text, one.asked) for one in example.questions]


def answers(examples: Sequence[Example]) -> torch.Tensor:
    """The right answers, as indices of ``ANSWERS``."""
    return torch.tensor(
        [ANSWERS.index(LABELS[one.label]) for example in examples for one in example.questions]
    )
