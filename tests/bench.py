"""Benchmarks: figures for docs/architecture.md, no assertion on time. ``make bench``.

- overhead of an episode against a bare Inspect task that makes the same
  generate calls on the same scripted model;
- CPU seconds of the light commands;
- with ``--local MODEL``: share of the prompt tokens that had to be processed.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, NamedTuple

os.environ["INSPECT_DISPLAY"] = "none"

# Nine families under three conditions.
CELLS = 27


# More variants than this not every family has; the rest are epochs, of both alike.
VARIANTS = 37

# By how much the tokens that the two send may differ: summaries and what is kept beside them do.
ALIKE = 0.05


class Spent(NamedTuple):
    """Seconds on the clock and of the processor, and the tokens that were sent to models."""

    clock: float
    processor: float
    sent: int


def spent(task: Any, model: str, live: bool, **given: Any) -> Spent:
    """What one evaluation takes."""
    from inspect_ai import eval as inspect_eval

    with tempfile.TemporaryDirectory() as folder:
        start, used = time.perf_counter(), time.process_time()
        (log,) = inspect_eval(
            task, model=model, log_dir=folder, display="none", score_display=live, **given
        )
        assert log.status == "success"
        clock, processor = time.perf_counter() - start, time.process_time() - used
    return Spent(clock, processor, sum(use.input_tokens for use in log.stats.model_usage.values()))


def shape(samples: int) -> tuple[int, int]:
    """Variants of a family, and epochs, that come to so many samples."""
    variants = min(samples // CELLS, VARIANTS)
    return variants, samples // CELLS // variants


def bare(samples: int, live: bool = True) -> Spent:
    """A bare task whose samples make the calls that ours make, with the same tools."""
    from inspect_ai import Task
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatMessageUser, get_model
    from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer
    from inspect_ai.solver import Generate, Solver, TaskState, solver

    from constraintrot.compactors import prompts
    from constraintrot.episode.messages import (
        conversation_messages,
        tool_infos,
        trigger_messages,
    )
    from constraintrot.evaluation.parameters import read
    from constraintrot.evaluation.solver import AnswerForm, staged
    from constraintrot.scenario.files import catalogue, load

    parameters = read({})
    variants, epochs = shape(samples)

    @solver
    def same_calls() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            condition = state.metadata["condition"]
            variant = load(state.metadata["family"]).variant(state.metadata["seed"])
            settings = parameters.play(condition, "none")
            form = AnswerForm("direct", decline_tool=False)
            episode = staged(variant, parameters, settings, allowed=False, form=form)
            tools = tool_infos(episode.tools)
            model = get_model()
            history = conversation_messages(episode)
            if condition == "compaction":
                request = ChatMessageUser(content=prompts.text("tight", 60))
                await model.generate([*history[:-8], request], tools=tools, tool_choice="none")
                history = [*history[:3], *history[-8:]]
            state.messages = [*history, *trigger_messages(episode)]
            state.output = await model.generate(state.messages, tools=tools)
            return state

        return solve

    @scorer(metrics=[accuracy()])
    def called() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            return Score(value=int(bool(state.output.message.tool_calls)))

        return score

    dataset = [
        Sample(
            input=load(family).variant(seed).preamble,
            metadata={"condition": condition, "seed": seed, "family": family},
        )
        for family in catalogue()
        for seed in range(variants)
        for condition in ("floor", "control", "compaction")
    ]
    task = Task(dataset=dataset, solver=same_calls(), scorer=called())
    return spent(task, "scripted/obedient", live, epochs=epochs)


def ours(samples: int, live: bool = True) -> Spent:
    """Our task over as many samples."""
    variants, epochs = shape(samples)
    given = {"variants": variants}
    return spent("constraintrot/suite", "scripted/obedient", live, task_args=given, epochs=epochs)


def overhead(samples: int, times: int, live: bool = True) -> dict[str, float]:
    """Medians of both, measured in turn in one process.

    Raises:
        SystemExit: the two do not send the same, so that a ratio would compare two workloads.

    Args:
        samples: of each.
        times: how often.
        live: whether Inspect computes the metrics anew while samples come in,
            which it does by default and which costs more the more there are.
    """
    pairs = [(bare(samples, live), ours(samples, live)) for _ in range(times)]
    for theirs, mine in pairs:
        if abs(mine.sent / theirs.sent - 1) > ALIKE:
            raise SystemExit(f"not the same calls: {theirs.sent:,} tokens bare, {mine.sent:,} ours")
    found: dict[str, float] = {"samples": samples, "live metrics": live}
    for name in ("clock", "processor"):
        seconds = [
            statistics.median(getattr(one, name) for one in column)
            for column in zip(*pairs, strict=True)
        ]
        found[f"bare {name} s"], found[f"ours {name} s"] = (round(one, 2) for one in seconds)
        found[f"{name} ratio"] = round(seconds[1] / seconds[0], 2)
    return found


def memory(which: str, samples: int) -> float:
    """Peak memory in MB of a process that runs one of the two."""
    code = (
        f"from tests.bench import {which}; import resource; {which}({samples});"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return round(float(done.stdout.split()[-1]))


def cpu_seconds(*command: str) -> float:
    """Median CPU seconds of a command, user and system."""
    spent = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return round(statistics.median(spent), 2)


def prefix_share(model: str, epochs: int, variants: int) -> dict[str, float]:
    """Prompt tokens processed / sent over the default grid on a local model."""
    from inspect_ai import eval as inspect_eval

    with tempfile.TemporaryDirectory() as folder:
        (log,) = inspect_eval(
            "constraintrot/soft_email",
            model=model,
            epochs=epochs,
            task_args={"variants": variants, "context_tokens": 300},
            log_dir=folder,
            display="none",
        )
        # Samples are read when they are asked for, so while the log is still there.
        uses = [use for s in log.samples or [] for use in s.model_usage.values()]
    processed = sum(use.input_tokens for use in uses)
    sent = processed + sum(use.input_tokens_cache_read or 0 for use in uses)
    return {
        "epochs": epochs,
        "variants": variants,
        "sent": sent,
        "processed": processed,
        "share": round(processed / sent, 2),
    }


def main() -> None:
    """Run what was asked for and print one JSON object a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--local", metavar="MODEL", help="also measure prefix sharing on it")
    parser.add_argument("--variants", type=int, default=3)
    arguments = parser.parse_args()
    print(
        json.dumps({"machine": platform.processor() or platform.machine(), "cores": os.cpu_count()})
    )
    if arguments.local:
        for epochs in (1, 3):
            print(json.dumps(prefix_share(arguments.local, epochs, arguments.variants)), flush=True)
        return
    command = os.path.join(os.path.dirname(sys.executable), "constraintrot")
    print(json.dumps({"--help CPU s": cpu_seconds(command, "--help")}))
    print(json.dumps({"show CPU s": cpu_seconds(command, "show", "soft_email", "--json")}))
    overhead(27, 1)  # warm-up: imports, patterns
    for samples, times in ((108, 3), (999, 1)):
        for live in (True, False):
            print(json.dumps(overhead(samples, times, live)), flush=True)
    for samples in (108, 999):
        found = {which: memory(which, samples) for which in ("bare", "ours")}
        print(json.dumps({"samples": samples, "peak MB": found}), flush=True)


if __name__ == "__main__":
    main()
