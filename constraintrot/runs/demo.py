"""``constraintrot demo``: a small local model obeys, forgets, violates, and obeys under the pin.

It first plays and describes one request, condition by condition, then prints a table of all.
"""

import json
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import click
from inspect_ai.log import EvalLog, EvalSample, read_eval_log

from constraintrot.command_line import named_model
from constraintrot.errors import ConstraintRotError
from constraintrot.extras import require
from constraintrot.models.in_process import catalogue as weights_catalogue
from constraintrot.models.in_process import weights
from constraintrot.report.frame import planned_episodes
from constraintrot.report.table import text as table_text
from constraintrot.report.untrusted import cut, visible
from constraintrot.runs import estimate, plan, prices
from constraintrot.runs.play import continued, display, page
from constraintrot.tasks import catalogue

TASKS = ("soft_email", "soft_deploy")
# On a CPU, prompt tokens take most of the time, so the demo's histories are short.
CONTEXT_TOKENS = 300
CONDITIONS = "floor,control,compaction,defense_pin"
# Without a review, a model of this size often ignores a rule that it sees.
SCAFFOLD = "review"
SCRIPTED = "scripted/obedient"
# From a committed run on two cores with local weights (results/demo.csv): 838 s, 16 episodes.
_SECONDS_AN_EPISODE = 52
_UNFINISHED = (
    "the run did not finish; nothing is lost, and the same command goes on where it stopped"
)


def run(model: str, variants: int, log_dir: str, *, quick: bool = False) -> None:
    """Tell one request step by step; unless ``quick``, then print a table and the logs' folder."""
    name = model.removeprefix("local/") if model.startswith("local/") else None
    if name is not None:
        require(f"the model {model}", "local")
    named_model("--model", model, memoize=True)
    click.echo(_plan(model, 3 if quick else 4 * variants * len(TASKS)))
    click.echo(_estimate(model, variants, quick=quick))
    if name is not None:
        _weights(name)
    logs = [log.location for log in _story(model, log_dir)]
    if quick:
        return
    click.echo(f"\nNow the table: {CONDITIONS.replace(',', ', ')} on {' and '.join(TASKS)}.\n")
    finished, rest = _play(model, log_dir, _rest(variants))
    _table([*logs, *(log.location for log in rest)], log_dir)
    if not finished:
        raise ConstraintRotError(_UNFINISHED)


def _plan(model: str, episodes: int) -> str:
    line = f"\n{episodes} episodes on {model}"
    if not model.startswith("local/"):
        return f"{line}."
    first = f", and {_minutes(3)} until the first request is told" * (episodes > 3)
    return f"{line}: about {_minutes(episodes)} on two processor cores{first}."


def _estimate(model: str, variants: int, *, quick: bool) -> str:
    given = {"variants": 1, "context_tokens": CONTEXT_TOKENS, "scaffold": SCAFFOLD}
    given |= {"conditions": ",".join(TOLD) if quick else CONDITIONS}
    size = plan.counted(f"constraintrot/{TASKS[0]}", given)
    size = size if quick else size.times(variants * len(TASKS))
    # Its minutes are those of the same episodes.
    return estimate.line(model, size, prices.cost(model, size, {}), None)


def _minutes(episodes: int) -> str:
    return f"{max(1, round(episodes * _SECONDS_AN_EPISODE / 60))} minutes"


def _weights(name: str) -> None:
    """Fetch the weights if they are missing, after telling the story with a scripted model."""
    if weights.path(name) is None:
        size = weights_catalogue.get(name).size / 1e9
        click.echo(
            f"The weights of {name} have to be fetched once, {size:.1f} GB."
            " Until they are there, this is the same story with a scripted model:\n"
        )
        with TemporaryDirectory() as folder:
            _story(SCRIPTED, folder)
        click.echo(f"\nFetching the weights of {name}:")
    weights.pull(name, progress=weights.to_stderr())


def _story(model: str, log_dir: str) -> list[EvalLog]:
    """Play and tell one request under three conditions; return the headers of the logs."""
    logs: list[EvalLog] = []
    samples: dict[str, EvalSample] = {}
    for number, condition in enumerate(TOLD, start=1):
        click.echo(f"Playing {TASKS[0]}, {condition} ...", err=True)
        finished, played = _play(
            model, log_dir, [_task(TASKS[0], 1, 0, condition)], display="none", score_display=False
        )
        told = read_eval_log(played[0].location).samples if finished else None
        if not told:
            raise ConstraintRotError(_UNFINISHED)
        logs.append(played[0])
        samples[condition] = told[0]
        if number == 1:
            click.echo(f"\n{opening(told[0])}")
        click.echo(f"\n{step(number, told[0])}")
    click.echo("\n" + click.style(ending(samples), bold=True) + f" (model: {model})")
    return logs


def _task(name: str, variants: int, seed: int, conditions: str) -> Any:
    return getattr(catalogue, name)(
        variants=variants,
        seed=seed,
        context_tokens=CONTEXT_TOKENS,
        conditions=conditions,
        scaffold=SCAFFOLD,
    )


def _rest(variants: int) -> list[Any]:
    first = [_task(TASKS[0], 1, 0, "floor")]
    more = [_task(TASKS[0], variants - 1, 1, CONDITIONS)] if variants > 1 else []
    return [*first, *more, *(_task(name, variants, 0, CONDITIONS) for name in TASKS[1:])]


def _play(
    model: str, log_dir: str, tasks: Sequence[Any], **options: Any
) -> tuple[bool, list[EvalLog]]:
    return continued(
        tasks,
        log_dir,
        model=model,
        log_dir_allow_dirty=True,
        max_tasks=1,
        max_samples=1,
        log_buffer=1,
        **({"display": display(), "score_display": True} | options),
    )


def _table(locations: Sequence[str], log_dir: str) -> None:
    click.echo("\n" + table_text(planned_episodes(locations), by=["family"]))
    click.echo("\nfloor: no policy was given. control: the policy is in the context.")
    click.echo("compaction: the same, after the history was summarised.")
    click.echo("defense_pin: compacted too, with the policy in a pinned block.")
    click.echo("\n" + page(locations, Path(log_dir) / "report"))
    click.echo(f"\nLogs: {log_dir}. Open them, with the history before and after compaction:")
    # The script next to this command: its folder may not be on the path.
    beside = Path(sys.argv[0]).with_name("inspect")
    click.echo(f"  {beside if beside.exists() else 'inspect'} view --log-dir {log_dir}")


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
    target = sample.target if isinstance(sample.target, str) else " ".join(sample.target)
    return target.split(": ", 1)[-1]


def request(sample: EvalSample) -> str:
    return str(sample.input).split("] ", 1)[-1]


def opening(sample: EvalSample) -> str:
    facts = sample.metadata
    return "\n".join(
        (
            f"One episode of {facts['family']}, seed {facts['seed']}\n",
            _line("Policy, said early on:", policy(sample)),
            _line("Request, at the end:", request(sample)),
        )
    )


def step(number: int, sample: EvalSample) -> str:
    """Return the course of one condition, for a terminal; ``number`` is its place in the

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
