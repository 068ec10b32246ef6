"""One variant told condition by condition: its summary, its context and its answer."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import click

from constraintrot.report.untrusted import cut, visible

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample

WIDTH = 88
_TEXT = 700
_VALUE = 70
_TITLES = {
    "control": "the whole history is in the context",
    "compaction": "the history was summarised before the request",
    "defense_pin": "the same, with the policy in a pinned block beside the history",
}
# Whether each condition violates in a variant that shows the effect.
TOLD = {"control": False, "compaction": True, "defense_pin": False}
_COLOURS = {"VIOLATED": "red", "OBEYED": "green", "UNKNOWN": "yellow"}


def policy(sample: EvalSample) -> str:
    """Return the policy of an episode, as it was stated."""
    target = sample.target if isinstance(sample.target, str) else " ".join(sample.target)
    return target.split(": ", 1)[-1]


def request(sample: EvalSample) -> str:
    """Return the request of an episode."""
    return str(sample.input).split("] ", 1)[-1]


def opening(sample: EvalSample) -> str:
    """Return the policy and the request of an episode, for a terminal."""
    facts = sample.metadata
    return "\n".join(
        (
            f"One episode of {facts['family']}, seed {facts['seed']}\n",
            _line("Policy, said early on:", policy(sample)),
            _line("Request, at the end:", request(sample)),
        )
    )


def step(number: int, sample: EvalSample) -> str:
    """Return the course of one condition, for a terminal; ``number`` is its place in the story.

    The sample is finished, and its condition is one of ``TOLD``.
    """
    condition = str(sample.metadata["condition"])
    lines = [click.style(f"{number}. {condition}: {_TITLES[condition]}", bold=True)]
    lines += [_line(head, text) for head, text in steps(sample) if text]
    return "\n".join([*lines, _verdict(sample)])


def ending(samples: Mapping[str, EvalSample]) -> str:
    """Return a sentence that sums up the samples, given by condition."""
    if all(_violated(samples[name]) is wanted for name, wanted in TOLD.items()):
        return "The same request: obeyed in sight, broken after the summary, obeyed under the pin."
    return (
        "This variant does not show the whole contrast (obeyed, broken, obeyed);"
        " the table has more variants."
    )


def _violated(sample: EvalSample) -> bool | None:
    value = (sample.scores or {})["violation"].value
    return bool(value) if value in (0, 1) else None


def verdict(sample: EvalSample) -> str:
    """Return the verdict on an episode in one word."""
    return {True: "VIOLATED", False: "OBEYED", None: "UNKNOWN"}[_violated(sample)]


def _verdict(sample: EvalSample) -> str:
    word = verdict(sample)
    why = (sample.scores or {})["violation"].explanation or ""
    text = _line("Verdict:", word if word == "OBEYED" else f"{word}. {why}")
    return text.replace(word, click.style(word, fg=_COLOURS[word], bold=True), 1)


def steps(sample: EvalSample) -> Iterable[tuple[str, str]]:
    """Yield a heading and a text for each step of an episode; its verdict is not among them."""
    facts, scores = sample.metadata, sample.scores or {}
    rounds = cast("Sequence[Mapping[str, Any]]", facts.get("rounds_run") or ())
    if rounds:
        yield "The summary:", str(rounds[-1].get("summary") or "")
    if rounds and "survival" in scores:
        yield "The policy in the context:", scores["survival"].explanation or ""
    review = cast("Mapping[str, Any]", facts.get("review") or {})
    recalled = facts.get("recalled") or ""
    if review or recalled:
        given = " / ".join(line for line in str(recalled).splitlines() if line)
        yield "Asked for its rules:", given or "it gives none"
    for rule in review.get("rules") or ():
        text = textwrap.shorten(str(rule.get("rule")), WIDTH - 30, placeholder=" ...")
        yield f'Does the request break "{visible(text)}"?', _judged(rule, review.get("threshold"))
    yield "It answers:", _answer(sample)


def _judged(rule: Mapping[str, Any], threshold: float | None) -> str:
    said = {True: "yes", False: "no", None: "undecided"}[rule.get("breaks")]
    if rule.get("score") is None or threshold is None:
        return said
    return f"{said} (log-odds {rule['score']:.1f}, yes above {threshold:.1f})"


def _answer(sample: EvalSample) -> str:
    calls = sample.metadata.get("calls")
    given = json.loads(calls) if isinstance(calls, str) else (calls or [])
    if given:
        return "; ".join(_call(one) for one in given)
    if blocked := sample.metadata.get("blocked"):
        return f"its call was blocked: {blocked}"
    return sample.output.completion if sample.output.choices else ""


def _call(call: Mapping[str, Any]) -> str:
    arguments = cast("Mapping[str, Any]", call.get("arguments") or {})
    given = (
        f"{name}={cut(json.dumps(v, ensure_ascii=False), _VALUE)}" for name, v in arguments.items()
    )
    return f"{call.get('function')}({', '.join(given)})"


def _line(head: str, text: str) -> str:
    words = " ".join(cut(text, _TEXT).split())
    body = textwrap.fill(words, WIDTH, initial_indent="     ", subsequent_indent="     ")
    return f"   {head}\n{body}"
