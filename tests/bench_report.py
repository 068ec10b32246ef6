"""Benchmark of ``constraintrot report``: CPU seconds and peak memory, no assertion on either.

``python tests/bench_report.py``: the whole command, imports and written files included,
over 3,000 and 100,000 invented episodes as a frame, and over 10,000 episodes as Inspect
logs. The logs are of scripted models, played once; their samples are copied under
other ids and seeds. CPU seconds are of user and system: what else a machine does then
is no property of the report.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import uuid
import zipfile
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ["INSPECT_DISPLAY"] = "none"

ROOT = Path(__file__).resolve().parent.parent
FRAMES = (3_000, 100_000)
FROM_LOGS = 10_000
A_LOG = 1_000
REPLICATES = 3
AGENTS = ("some/large-model", "some/small-model")
FAMILIES = (
    "hard_pii", "hard_proddb", "hard_seccontrol", "hard_secret",
    "soft_channel", "soft_deploy", "soft_email", "soft_language", "soft_spend",
)  # fmt: skip
_COMPACTED: dict[str, Any] = {
    "condition": "compaction", "compactor": "summarize", "prompt": "tight", "budget_words": 60,
    "rounds": 1, "attack": "none", "defense": "none", "channel": "user", "locale": "en",
    "wording": "declarative", "harness": "replay", "scaffold": "direct", "allowed": False,
}  # fmt: skip
_BARE = {"compactor": "none", "prompt": "none", "budget_words": "none", "rounds": "none"}
# How often an episode of each condition violates; of others as of compaction.
_CHANCE = {"floor": 0.7, "control": 0.1, "compaction": 0.45}


def settings() -> list[dict[str, Any]]:
    """What a large study plays: conditions, attacks, defenses, and each setting varied alone."""
    attacks = ("volume", "inject_deprecation", "inject_budget", "inject_system")
    defenses = ("pin", "system_channel", "spotlight", "sanitize")
    varied: list[dict[str, Any]] = [
        {},
        *(_BARE | {"condition": name} for name in ("floor", "control")),
        *({"condition": name} for name in ("summary_removed", "sham", "summary_restored")),
        *({"attack": name} for name in attacks),
        *({"defense": name} for name in defenses),
        *({"attack": "inject_deprecation", "defense": name} for name in defenses),
        *({"allowed": True, "defense": name} for name in ("none", *defenses)),
        *({"compactor": name, "prompt": "none"} for name in ("truncate", "hierarchical")),
        *({"channel": name} for name in ("system", "memory", "tool")),
        *({"locale": name} for name in ("zh", "es")),
        *({"budget_words": words} for words in (15, 120, 300)),
        *({"rounds": rounds} for rounds in (2, 3)),
        *({"harness": name} for name in ("langgraph", "langmem", "autogen")),
    ]
    return [_COMPACTED | one for one in varied]


def episodes(
    n: int, agents: Sequence[str] = AGENTS, varied: Sequence[dict[str, Any]] | None = None
) -> Iterator[dict[str, Any]]:
    """Invented episodes: models x settings x policies, as many seeds and replicates as needed."""
    draw = random.Random(0)
    cells = list(product(agents, varied or settings(), FAMILIES))
    for number in range(n):
        agent, facts, family = cells[number % len(cells)]
        seed, replicate = divmod(number // len(cells), REPLICATES)
        chance = 0.03 if facts["defense"] == "pin" else _CHANCE.get(facts["condition"], 0.45)
        kept = facts["condition"] == "control" or draw.random() < 0.4
        violated = not facts["allowed"] and draw.random() < chance * (0.6 if kept else 1.3)
        outcome = "violated" if violated else draw.choice(("declined", "complied", "no_call"))
        yield facts | {
            "episode": f"e{number}", "created": "2026-11-01T00:00:00+00:00", "family": family,
            "kind": family[:4], "agent": agent, "seed": seed, "replicate": replicate,
            "summarizer": "none" if facts["compactor"] == "none" else agent,
            "distractors": 0, "context_tokens": 800, "compact_at": "none", "status": "played",
            "log": f"log-{number // 500}.eval", "task": "suite", "violation": float(violated),
            "outcome": outcome, "reason": f"invented episode {number}, told in a few words",
            "utility": float(draw.random() < 0.9) if facts["allowed"] else None,
            "over_refusal": float(draw.random() < 0.1) if facts["allowed"] else None,
            "survived": float(kept), "state": "restated" if kept else "lost", "measure": "rules",
            "verbatim": 0.0, "mentions": float(kept), "tokens_before": 800, "tokens_after": 300,
            "input_tokens": 1_500, "cached_tokens": 400, "output_tokens": 80,
            "last_input_tokens": 700, "seconds": 1.5 + draw.random(),
        }  # fmt: skip


def write_frame(n: int, path: Path) -> None:
    """A frame of invented episodes, as a report writes it."""
    import pandas as pd

    from constraintrot.report.page import frames

    rows = pd.DataFrame(list(episodes(n)))
    path.write_text(frames.csv_text(frames.tidy(rows)), encoding="utf-8", newline="")


def write_logs(n: int, folder: Path, a_log: int = A_LOG) -> None:
    """Logs of n episodes in all: samples of a scripted model's log, copied under other ids."""
    from inspect_ai import eval as inspect_eval
    from inspect_ai.log import read_eval_log

    played = folder.with_name(f"{folder.name}-played")
    (log,) = inspect_eval(
        "constraintrot/suite", model="scripted/obedient", log_dir=str(played), display="none",
        task_args={"variants": 1, "conditions": "floor,control,compaction,attack_inject,defense_pin"},
    )  # fmt: skip
    header = read_eval_log(log.location, header_only=True).model_dump(mode="json")
    with zipfile.ZipFile(log.location) as source:
        names = [name for name in source.namelist() if name.startswith("samples/")]
        samples = [json.loads(source.read(name)) for name in names]
    folder.mkdir(parents=True)
    for number in range(n // a_log):
        _copy(samples, header, folder / f"{number:03}.eval", number * a_log, a_log)


def _copy(
    samples: list[dict[str, Any]], header: dict[str, Any], path: Path, first: int, n: int
) -> None:
    ids: list[str] = []
    summaries: list[dict[str, Any]] = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target:
        for at in range(first, first + n):
            sample = samples[at % len(samples)]
            seed = 1_000 + at // len(samples)
            facts = sample["metadata"] | {"seed": seed}
            name = f"{facts['family']}.{facts['locale']}-{seed}-{facts['condition']}"
            # Ids are given as in the log and never drawn, so that two runs read the same.
            copy = sample | {"id": name, "metadata": facts, "uuid": uuid.UUID(int=at).hex}
            target.writestr(f"samples/{name}_epoch_1.json", json.dumps(copy))
            ids.append(name)
            short = ("id", "epoch", "input", "target", "metadata", "uuid", "model_usage")
            summaries.append({key: copy[key] for key in short})
        dataset = header["eval"]["dataset"] | {"sample_ids": ids, "samples": n}
        task = header["eval"] | {"dataset": dataset, "task_id": f"copy-{first}"}
        target.writestr("summaries.json", json.dumps(summaries))
        target.writestr("header.json", json.dumps(header | {"eval": task}))


def spent(given: Path, out: Path) -> dict[str, float]:
    """CPU seconds and peak MB of one ``constraintrot report``, in a process of its own.

    The byte code of all modules is kept next to ``out``, as it is where a package is installed.
    """
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(out.parent / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    code = (
        "import sys, time; from constraintrot.cli.main import main; from tests.bench_stats import peak\n"
        "try: main(['report', *sys.argv[1:]])\n"
        "except SystemExit as ended: assert not ended.code, ended.code\n"
        "print(time.process_time(), peak())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(given), "-o", str(out)],
        capture_output=True, text=True, check=False, cwd=ROOT, env=environment,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(done.stderr)
    seconds, megabytes = done.stdout.split()[-2:]
    return {"cpu_s": round(float(seconds), 1), "peak_mb": round(float(megabytes))}


def main() -> None:
    """Print one line of figures for each size and kind of input."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, nargs="*", default=FRAMES, metavar="N")
    parser.add_argument("--logs", type=int, default=FROM_LOGS, metavar="N", help="0: none")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_frame(300, folder / "first.csv")
        spent(folder / "first.csv", folder / "report-first")
        for n in arguments.frames:
            path = folder / f"{n}.csv"
            write_frame(n, path)
            figures = spent(path, folder / f"report-{n}")
            print(json.dumps({"from": "a frame", "episodes": n, **figures}), flush=True)
        if arguments.logs:
            write_logs(arguments.logs, folder / "logs")
            figures = spent(folder / "logs", folder / "report-logs")
            print(json.dumps({"from": "logs", "episodes": arguments.logs, **figures}), flush=True)


if __name__ == "__main__":
    main()
