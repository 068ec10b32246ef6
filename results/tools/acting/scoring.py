"""Examples as tokens, and the base model's loss on the answers and its decisions.

A conversation and its requests are a tree: the conversation is computed once, and each request
with its answer is a branch. Prompts are those of the model in this process, to the token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from tokenizers import Tokenizer

from constraintrot.models.in_process.prompt import Control
from results.tools.acting.generator import Example, Question
from results.tools.acting.rendering import answer, prompt
from results.tools.rule_judge import tokenizer as tokenizers
from results.tools.rule_judge.base_model import BaseModel, Factors, pack

_HEAD = '{"name": "'


@dataclass(frozen=True)
class Branch:
    """One request with its answer, as tokens.

    Attributes:
        ids: The prompt and the answer up to its last token that is read.
        decision: Index in ``ids`` of the token after which the tool's name begins.
        right: First token of the right tool's name.
        words: Indices in ``ids`` after which the other supervised tokens follow.
        wanted: Those tokens.
    """

    ids: list[int]
    decision: int
    right: int
    words: list[int]
    wanted: list[int]


class Scorer:
    """The base model with its tokenizer.

    Args:
        weights: The GGUF file.
        dtype: What the matrices are multiplied in; without one, what this processor is fast in.
    """

    def __init__(self, weights: Path, dtype: torch.dtype | None = None) -> None:
        bf16 = torch.cpu.get_capabilities().get("avx512_bf16", False)
        self.model = BaseModel(weights, dtype or (torch.bfloat16 if bf16 else torch.float32))
        self._tokenizer: Tokenizer = tokenizers.load(weights)

    def branches(self, example: Example, written: Sequence[bool]) -> list[Branch]:
        """The branches of an example.

        Args:
            example: The conversation with its requests.
            written: Of each request, whether its whole answer is supervised.
        """
        return [
            self._branch(example, question, whole)
            for question, whole in zip(example.questions, written, strict=True)
        ]

    def cut(self, example: Example, tokens: int) -> Example:
        """The example with as many of its requests as fit so many tokens, whole answers aside."""
        questions = list(example.questions)
        while len(questions) > 2:
            some = self.branches(
                replace(example, questions=tuple(questions)), [False] * len(questions)
            )
            if len(pack([[one.ids for one in some]]).tokens) <= tokens:
                break
            questions.pop()
        return replace(example, questions=tuple(questions))

    def choices(self, example: Example) -> list[int]:
        """First tokens of the names of the tools on offer, that of ``decline`` first."""
        found = dict.fromkeys(self._ids(tool.name)[0] for tool in reversed(example.tools))
        return list(found)

    def loss(
        self,
        example: Example,
        written: Sequence[bool],
        factors: Factors,
        scale: float,
        weight: float,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The loss, and of each request the log-odds of declining.

        Args:
            example: The conversation with its requests.
            written: Of each request, whether its whole answer is supervised.
            factors: The adapter.
            scale: What it is multiplied by.
            weight: Weight of an answer's other tokens beside its decision.
        """
        branches, choices = self.branches(example, written), self.choices(example)
        words = sorted(
            {*choices, *(token for one in branches for token in one.ids)}
            | {token for one in branches for token in one.wanted}
        )
        place = {token: at for at, token in enumerate(words)}
        logits, rows = self._logits(branches, words, factors, scale)
        named = logits[[rows[at, one.decision] for at, one in enumerate(branches)]]
        named = named[:, [place[token] for token in choices]]
        right = torch.tensor([choices.index(one.right) for one in branches])
        loss = torch.nn.functional.cross_entropy(named, right)
        others = [
            (rows[at, row], place[token])
            for at, one in enumerate(branches)
            for row, token in zip(one.words, one.wanted, strict=True)
        ]
        if others:
            where, wanted = zip(*others, strict=True)
            loss = loss + weight * torch.nn.functional.cross_entropy(
                logits[list(where)], torch.tensor(wanted)
            )
        return loss, (named[:, 0] - named[:, 1:].logsumexp(1)).detach()

    def _logits(
        self, branches: Sequence[Branch], words: list[int], factors: Factors, scale: float
    ) -> tuple[torch.Tensor, dict[tuple[int, int], int]]:
        batch = pack([[one.ids for one in branches]])
        lengths = [len(one.ids) for one in branches]
        shared = (sum(lengths) - len(batch.tokens)) // (len(branches) - 1)
        readout: list[int] = []
        rows: dict[tuple[int, int], int] = {}
        start = shared
        for at, (one, length) in enumerate(zip(branches, lengths, strict=True)):
            for index in sorted({one.decision, *one.words}):
                rows[at, index] = len(readout)
                readout.append(start + index - shared)
            start += length - shared
        batch = replace(batch, readout=torch.tensor(readout))
        return self.model.logits(batch, words, factors, scale), rows

    def _branch(self, example: Example, question: Question, whole: bool) -> Branch:
        asked = self.prompt(example, question)
        said = self._ids(answer(question))
        decision = len(asked) + len(self._ids(_HEAD)) - 1
        named = decision + 1 - len(asked)
        if not whole:
            return Branch([*asked, *said[:named]], decision, said[named], [], [])
        full = [*asked, *said, *self._ids(Control.END.value)]
        words = [at for at in range(len(asked) - 1, len(full) - 1) if at != decision]
        return Branch(full[:-1], decision, said[named], words, [full[at + 1] for at in words])

    def prompt(self, example: Example, question: Question) -> list[int]:
        """The tokens of the prompt, as the model in this process makes them."""
        pieces = prompt(example, question)
        return [
            token
            for piece in pieces
            for token in self._ids(piece.value if isinstance(piece, Control) else piece)
        ]

    def _ids(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text).ids)
