"""How good an adapter is, as llama.cpp runs it beside the published weights; no PyTorch.

::

    python -m results.tools.rule_judge.evaluate held-out rule-judge.gguf --write FOLDER
    python -m results.tools.rule_judge.evaluate families rule-judge.gguf

``held-out`` is for the choice of a checkpoint and of the threshold, and writes the
``calibration.json`` that the package reads. ``families`` asks about the benchmark's own
policies, which neither training nor a choice may see: it is run once, at the end.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from inspect_ai.model import ChatMessageUser

from constraintrot.models.in_process import catalogue, weights
from constraintrot.models.in_process.machine import default_threads
from constraintrot.models.in_process.prompt import render_prompt
from constraintrot.models.in_process.server import Engine, LlamaServer, ServerParams
from constraintrot.rule_text.rule_judge.adapter import BASE, Bar, Calibration
from constraintrot.rule_text.rule_judge.reading import CANDIDATES, log_odds, question
from constraintrot.scenario.files import catalogue as families_of
from constraintrot.scenario.files import load
from constraintrot.scenario.schema import WORDINGS
from results.tools.rule_judge.generator import Example, digest, examples
from results.tools.rule_judge.measures import (
    Scored,
    auc_by_kind,
    brier,
    reliability,
    right,
    threshold,
)

_CONTEXT = 2048
_SETTINGS = {"n_predict": 1, "temperature": 0.0, "logprobs": CANDIDATES}
# Not the seed that training watches, so a choice made there is not scored on the same text.
SEED, GROUPS = 2000, 120


def score(engine: Engine, wanted: Sequence[Example]) -> list[tuple[Example, float]]:
    """Examples with their log-odds of yes."""
    scored = []
    for example in wanted:
        asked = ChatMessageUser(content=question(example.rule, example.request))
        prompt = engine.tokens(render_prompt([asked], []))
        done = engine.complete(prompt, _SETTINGS, threading.Event())
        top = done.logprobs[0]["top_logprobs"]
        scored.append((example, log_odds((each["token"], each["logprob"]) for each in top)))
    return scored


def unseen(scored: Scored) -> tuple[float, float]:
    """Rates right where each kind's threshold comes from the other kinds."""
    moved = []
    for kind in sorted({example.kind for example, _ in scored}):
        limit = threshold([pair for pair in scored if pair[0].kind != kind])
        moved += [(example, value - limit) for example, value in scored if example.kind == kind]
    return right(moved, 0.0)


def calibrate(scored: Scored, origin: dict[str, Any]) -> Calibration:
    """The figures of the package's page, from scores of the held-out kinds."""
    limit = threshold(scored)
    forbidden, allowed = right(scored, limit)
    unseen_forbidden, unseen_allowed = unseen(scored)
    return Calibration(
        threshold=round(limit, 3),
        base_sha256=catalogue.get(BASE).sha256,
        held_out_sha256=digest([example for example, _ in scored]),
        examples=len(scored),
        forbidden_right=round(forbidden, 4),
        allowed_right=round(allowed, 4),
        unseen_forbidden_right=round(unseen_forbidden, 4),
        unseen_allowed_right=round(unseen_allowed, 4),
        auc=auc_by_kind(scored),
        brier=round(brier(scored), 4),
        reliability=tuple(
            Bar(
                count=one.count,
                probability=round(one.probability, 3),
                share=round(one.share, 3),
            )
            for one in reliability(scored)
        ),
        **origin,
    )


def family_examples(seeds: Sequence[int]) -> Iterator[Example]:
    """The benchmark's policies with their forbidden and their allowed requests."""
    group = 0
    for family, locales in families_of().items():
        for locale in locales:
            for seed in seeds:
                variant = load(family, locale).variant(seed, texts=1)
                policy = variant.policy(WORDINGS[seed % len(WORDINGS)])
                for breaks, asked in ((True, variant.trigger), (False, variant.allowed_trigger)):
                    yield Example(group, family, locale, policy, asked, breaks, "own", {})
                group += 1


def engine_with(adapter: Path | None) -> Engine:
    """The base model's server with an adapter, or without one."""
    params = ServerParams(
        weights=weights.pull(BASE, weights.to_stderr()),
        context=_CONTEXT,
        parallel=1,
        threads=default_threads(),
        gpu_layers=0,
        adapter=adapter,
    )
    return LlamaServer(params)


_ADAPTER = click.argument(
    "adapter", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False
)


@click.group()
def main() -> None:
    """Score an adapter; without one, the base model."""


@main.command("held-out")
@_ADAPTER
@click.option("--groups", default=GROUPS, show_default=True, help="Rules, each with two requests.")
@click.option("--write", type=click.Path(file_okay=False, path_type=Path), help="Folder.")
def held_out(adapter: Path | None, groups: int, write: Path | None) -> None:
    """Score the held-out kinds, and choose the threshold."""
    none = {"adapter_sha256": "none", "training_sha256": "none", "step": 0}
    beside = adapter.with_suffix(".origin.json") if adapter else None
    origin = json.loads(beside.read_text(encoding="utf-8")) if beside else none
    scored = score(engine_with(adapter), examples("held_out", SEED, groups))
    text = calibrate(scored, origin).model_dump_json(indent=2) + "\n"
    click.echo(text, nl=False)
    if write:
        (write / "calibration.json").write_text(text, encoding="utf-8")


@main.command()
@_ADAPTER
@click.option("--seeds", default=3, show_default=True, help="Variants of each family and locale.")
@click.option("--limit", type=float, required=True, help="The threshold, from calibration.json.")
def families(adapter: Path | None, seeds: int, limit: float) -> None:
    """Score the benchmark's own policies; for the end, once."""
    scored = score(engine_with(adapter), list(family_examples(range(seeds))))
    names = sorted({example.kind for example, _ in scored})
    parts = {name: [pair for pair in scored if pair[0].kind == name] for name in names}
    rates = {name: right(part, limit) for name, part in {"all": scored, **parts}.items()}
    page = {"auc": auc_by_kind(scored), "brier": brier(scored), "right": rates}
    click.echo(json.dumps(page, indent=2))


if __name__ == "__main__":
    main()
