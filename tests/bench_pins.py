"""What a hook of ``constraintrot pin`` costs an agent, in milliseconds a call; no assertion on time.

``python tests/bench_pins.py``. A call is a process: start, read the event, compare the
rules with what was compiled, print, write the receipt. Beside it is the same interpreter
doing nothing, so that machines can be compared; the aim is under 50 ms. Processor time is
what a call takes; the time that passes depends on what else the machine does.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from constraintrot.coding_agents.pins.agents import AGENTS
from constraintrot.coding_agents.pins.compiled import Source
from constraintrot.coding_agents.pins.installing import install
from constraintrot.coding_agents.pins.record import Pin

RUNS = 41
EVENTS = {
    "handed out": {"hook_event_name": "SessionStart", "session_id": "a"},
    "nothing new": {"hook_event_name": "UserPromptSubmit", "session_id": "a"},
}


def milliseconds(call: Callable[[], object]) -> tuple[float, float, float]:
    """Of some calls: processor time, mean; time that passed, median and least."""
    passed, used = [], []
    for _ in range(RUNS):
        start, before = time.perf_counter(), os.times()
        call()
        after = os.times()
        passed.append((time.perf_counter() - start) * 1000)
        used.append((_children(after) - _children(before)) * 1000)
    return statistics.fmean(used), statistics.median(passed), min(passed)


def _children(times: os.times_result) -> float:
    return times.children_user + times.children_system


def run(*words: str, given: bytes = b"") -> None:
    """Start a process, give it an event, and wait for its end."""
    subprocess.run(words, input=given, capture_output=True, check=True)


def installed(folder: str, size: int) -> list[str]:
    """The words that start the hook of a pin of so many bytes of rules, installed in a folder."""
    os.environ["HOME"] = folder
    os.environ.pop("XDG_DATA_HOME", None)
    rules = Path(folder) / "rules.txt"
    rules.write_text("r" * size, encoding="utf-8")
    state = install(Pin(AGENTS["codex"], "user", Path(folder)), Source("rules", rules)).folder
    return [sys.executable, "-I", "-S", str(state / "hook.py"), "codex"]


def a_call(size: int = 8_000) -> float:
    """Milliseconds of processor time of a call that hands the rules out."""
    home = os.environ.get("HOME")
    given = json.dumps(EVENTS["handed out"]).encode()
    try:
        with tempfile.TemporaryDirectory() as folder:
            return milliseconds(partial(run, *installed(folder, size), given=given))[0]
    finally:
        if home is not None:
            os.environ["HOME"] = home


def main() -> None:
    """Print one line for each size of rules and each event."""
    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder) / "rules.txt"

        def amended(words: Sequence[str]) -> None:
            rules.write_text(f"{time.time_ns()}", encoding="utf-8")
            run(*words, given=json.dumps(EVENTS["nothing new"]).encode())

        lines: dict[str, Callable[[], object]] = {
            "an interpreter that does nothing": lambda: run(sys.executable, "-I", "-S", "-c", "")
        }
        print(f"{'':36} processor  median   least, ms of {RUNS} calls")
        for size in (100, 8_000, 90_000):
            words = installed(folder, size)
            for name, event in EVENTS.items():
                given = json.dumps(event).encode()
                lines[f"{size:,} bytes of rules, {name}"] = partial(run, *words, given=given)
            if size == 100:
                lines["amended: compiled anew"] = partial(amended, words)
            for name, call in lines.items():
                used, middle, least = milliseconds(call)
                print(f"{name:36} {used:9.1f} {middle:7.1f} {least:7.1f}")
            lines.clear()


if __name__ == "__main__":
    main()
