"""How good an adapter is on held-out rules and sentences, as llama.cpp runs it; no PyTorch.

::

    python -m results.tools.rule_reader.evaluate rule-reader.gguf --write FOLDER

writes the ``calibration.json`` that the package reads. The texts of another hand are for
``python -m results.tools.reading read local``, which is run once, after every choice.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from inspect_ai.model import ChatMessageUser

from constraintrot.models.in_process import catalogue
from constraintrot.models.in_process.prompt import render_prompt
from constraintrot.models.in_process.server import Engine
from constraintrot.rule_text.local_reader import answers, log_odds
from constraintrot.rule_text.rule_judge.reading import CANDIDATES
from constraintrot.rule_text.rule_reader.adapter import BASE, Calibration, Question
from constraintrot.rule_text.rule_reader.prompt import about_rule, about_sentence
from results.tools.reading import auc_of, calibration_error
from results.tools.rule_judge.evaluate import engine_with
from results.tools.rule_reader.generator import Example, Task, digest
from results.tools.rule_reader.written import RULES, SEED, SENTENCES, held_out

_SETTINGS = {"n_predict": 1, "temperature": 0.0, "logprobs": CANDIDATES}
_YES = ("restated", "standing")


@dataclass(frozen=True)
class Scored:
    """The log-odds of yes of one question.

    Attributes:
        task: what is asked.
        label: the label.
        text: number of its text; questions of one text are no independent trials.
        score: log-odds of yes.
        said: the likeliest answer.
    """

    task: Task
    label: str
    text: int
    score: float
    said: str

    @property
    def yes(self) -> bool:
        """Whether yes is right."""
        return self.label in _YES


def score(engine: Engine, wanted: Sequence[Example]) -> Iterator[Scored]:
    """Ask the questions of all examples."""
    for number, example in enumerate(wanted):
        for one in example.questions:
            asked = (
                about_rule(example.text, one.asked)
                if example.task == "state"
                else about_sentence(example.speaker, example.text, one.asked)
            )
            prompt = engine.tokens(render_prompt([ChatMessageUser(content=asked)], []))
            done = engine.complete(prompt, _SETTINGS, threading.Event())
            top = done.logprobs[0]["top_logprobs"]
            said = answers([(each["token"], each["logprob"]) for each in top])
            likeliest = max(said, key=lambda word: said[word])
            yield Scored(example.task, one.label, number, log_odds(said), likeliest)


def fit(scored: Sequence[Scored]) -> tuple[float, float]:
    """The scale and shift that make scores calibrated logits, by logistic regression.

    A little weight on scale 1 and shift 0 keeps both finite where the scores separate all.
    """
    scale, shift = 1.0, 0.0
    for _ in range(200):
        slope_a, slope_b, aa, ab, bb = scale - 1.0, shift, 1.0, 0.0, 1.0
        for one in scored:
            chance = 0.5 * (1 + math.tanh((scale * one.score + shift) / 2))
            weight = max(chance * (1 - chance), 1e-9)
            slope_a += (chance - one.yes) * one.score
            slope_b += chance - one.yes
            aa, ab, bb = (
                aa + weight * one.score**2,
                ab + weight * one.score,
                bb + weight,
            )
        det = aa * bb - ab * ab
        step_a, step_b = (bb * slope_a - ab * slope_b) / det, (aa * slope_b - ab * slope_a) / det
        scale, shift = scale - 0.5 * step_a, shift - 0.5 * step_b
    return scale, shift


def measured(scored: Sequence[Scored]) -> Question:
    """The figures of one question; its calibration error is of texts that its fit did not see."""
    scale, shift = fit(scored)
    whole = Question(
        scale=round(scale, 3), shift=round(shift, 3), examples=len(scored), auc=0.0, precision=0.0,
        recall=0.0, calibration_error=0.0,
    )  # fmt: skip
    said = [whole.probability(one.score) >= 0.5 for one in scored]
    truth = [one.yes for one in scored]
    right = sum(a and b for a, b in zip(said, truth, strict=True))
    chances, labels = list[float](), list[bool]()
    for half in (0, 1):
        other = fit([one for one in scored if one.text % 2 != half])
        for one in (one for one in scored if one.text % 2 == half):
            logit = other[0] * one.score + other[1]
            chances.append(0.5 * (1 + math.tanh(logit / 2)))
            labels.append(one.yes)
    return whole.model_copy(
        update={
            "auc": round(auc_of([one.score for one in scored], truth), 3),
            "precision": round(right / max(1, sum(said)), 3),
            "recall": round(right / max(1, sum(truth)), 3),
            "calibration_error": round(calibration_error(chances, labels), 3),
        }
    )


@click.command()
@click.argument("adapter", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--sentences", default=SENTENCES, show_default=True, help="Questions about them.")
@click.option("--rules", default=RULES, show_default=True, help="Questions about them.")
@click.option("--write", type=click.Path(file_okay=False, path_type=Path), help="Folder.")
def main(adapter: Path, sentences: int, rules: int, write: Path | None) -> None:
    """Score held-out rules and sentences, and fit the calibration."""
    origin: dict[str, Any] = json.loads(
        adapter.with_suffix(".origin.json").read_text(encoding="utf-8")
    )
    wanted = held_out(SEED, sentences, rules)
    scored = list(score(engine_with(adapter), wanted))
    page = Calibration(
        base_sha256=catalogue.get(BASE).sha256,
        held_out_sha256=digest(wanted),
        state=measured([one for one in scored if one.task == "state"]),
        standing=measured([one for one in scored if one.task == "standing"]),
        **origin,
    )
    text = page.model_dump_json(indent=2) + "\n"
    click.echo(text, nl=False)
    if write:
        (write / "calibration.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
