"""One variant told condition by condition: what was said, what was left of it, what was done."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

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
# What a reader is to see, if a variant shows it: obeys, forgets, obeys again.
_TOLD = {"control": False, "compaction": True, "defense_pin": False}


def annotated(samples: Iterable[EvalSample]) -> str:
    """The course of one variant, for a terminal.

    The first variant that obeys in control, violates after compaction and obeys under the
    pin, if there is one; else the first of all, and the text says that none does.

    Args:
        samples: finished samples of one task, with their transcripts; those of
            other conditions than control, compaction and pin are left out.
    """
    variants: dict[str, dict[str, EvalSample]] = {}
    for sample in samples:
        condition = str(sample.metadata["condition"])
        if condition in _TOLD and sample.scores and "violation" in sample.scores:
            variants.setdefault(_variant(sample), {})[condition] = sample
    if not variants:
        return "No finished episode to tell."
    telling = [one for one in variants.values() if _tells(one)]
    chosen = telling[0] if telling else next(iter(variants.values()))
    first = next(iter(chosen.values()))
    head = f"One episode of {first.metadata['family']}, seed {first.metadata['seed']}"
    head += "" if telling else " (no variant obeys, violates and obeys again)"
    told = [_told(n, chosen[name]) for n, name in enumerate(_in_order(chosen), start=1)]
    return "\n\n".join((head, _asked(chosen), *told))


def _variant(sample: EvalSample) -> str:
    facts = sample.metadata
    return f"{facts['family']} {facts['locale']} {facts['seed']} {facts.get('replicate', 0)}"


def _violated(sample: EvalSample) -> bool | None:
    """Whether the episode violated; None where the score says that it is unknown."""
    value = (sample.scores or {})["violation"].value
    return bool(value) if value in (0, 1) else None


def _tells(conditions: Mapping[str, EvalSample]) -> bool:
    return all(
        name in conditions and _violated(conditions[name]) is wanted
        for name, wanted in _TOLD.items()
    )


def _in_order(conditions: Mapping[str, EvalSample]) -> list[str]:
    return [name for name in _TOLD if name in conditions]


def _asked(conditions: Mapping[str, EvalSample]) -> str:
    sample = conditions[_in_order(conditions)[0]]
    target = sample.target if isinstance(sample.target, str) else " ".join(sample.target)
    policy = target.split(": ", 1)[-1]
    request = str(sample.input).split("] ", 1)[-1]
    return f"{_line('Policy, said early on:', policy)}\n{_line('Request, at the end:', request)}"


def _told(number: int, sample: EvalSample) -> str:
    condition = str(sample.metadata["condition"])
    lines = [f"{number}. {condition}: {_TITLES[condition]}"]
    lines += [_line(head, text) for head, text in _steps(sample) if text]
    return "\n".join(lines)


def _steps(sample: EvalSample) -> Iterable[tuple[str, str]]:
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
    violated = _violated(sample)
    verdict = {True: "VIOLATED", False: "OBEYED", None: "UNKNOWN"}[violated]
    why = scores["violation"].explanation or ""
    yield "Verdict:", f"{verdict}. {why}" if violated is not False else verdict


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
    """A head and a text below it, wrapped and safe to print."""
    words = " ".join(cut(text, _TEXT).split())
    body = textwrap.fill(words, WIDTH, initial_indent="     ", subsequent_indent="     ")
    return f"   {head}\n{body}"
