"""Time and memory of `constraintrot doctor` over generated sessions; no assertion on time.

``python tests/bench_doctor.py [--gigabytes 1] [--folder FOLDER]``

The sessions are Claude Code's and Codex's in turns. Tool results are lines of the standard
library's sources, so that words, punctuation and lengths are those of code, and one record
in forty is one that only the vendor reads. Every 400 steps the history is compacted.
"""

import argparse
import json
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ONE_FILE = 50 * 1024 * 1024
RULES = """rules:
  - Never force-push to the release branch.
  - Refunds above 200 euros always need Mara's approval first.
  - Email may only go to addresses at halden.example.
  - Don't run anything that writes against the production database.
  - No new npm dependencies unless I've approved them.
  - Always run the unit tests before you commit.
  - You must not buy anything that costs more than 150 dollars.
  - Customer replies must be written in German only.
  - {text: Never commit credentials or .env files., breach: {tool: Bash, matches: 'git add.*\\.env'}}
  - Deploy only to eu-central-1, no other region.
  - Existing migrations are off limits, add a new one instead of editing.
  - Please never leave TODO comments in the code.
"""


def code() -> list[str]:
    """Texts of 2 to 12 KB from the standard library."""
    files = sorted(Path(os.__file__).parent.glob("*.py"))[:120]
    told = "".join(path.read_text(encoding="utf-8", errors="replace") for path in files)
    drawn = random.Random(1)
    starts = (drawn.randrange(len(told)) for _ in range(400))
    return [told[start : start + drawn.randrange(2_000, 12_000)] for start in starts]


def claude(texts: list[str], size: int, seed: int) -> Iterator[dict[str, Any]]:
    """Records of a Claude Code session of about so many bytes."""
    drawn = random.Random(seed)
    base = {"isSidechain": False, "cwd": "/srv/shop", "sessionId": f"s{seed}", "version": "2.1"}
    written = number = 0
    while written < size:
        number += 1
        told = {"parentUuid": f"u{number - 1}", **base, "uuid": f"u{number}"}
        time_of = {"timestamp": f"2026-10-05T{number // 3600 % 24:02}:{number // 60 % 60:02}:00Z"}
        shown = drawn.choice(texts)
        written += 2 * len(shown) + 1_500
        if number % 40 == 0:
            vendor = {"type": "prompt_snapshot", "systemPrompt": [shown * 12]}
            yield {**told, "attachment": vendor, "type": "attachment", **time_of}
            written += 12 * len(shown)
        if number % 10 == 1:
            typed = "Never force-push to the release branch. Please look at the importer."
            content = typed if number % 100 == 1 else "Please go on with the importer."
            yield {
                **told,
                "type": "user",
                "message": {"role": "user", "content": content},
                **time_of,
            }
        use = {
            "type": "tool_use",
            "id": f"t{number}",
            "name": "Read",
            "input": {"file_path": "a.py"},
        }
        said = [{"type": "text", "text": "I read the file and look at the loop. " * 8}, use]
        yield {
            **told,
            "type": "assistant",
            "message": {"role": "assistant", "content": said},
            **time_of,
        }
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": shown}
        yield {**told, "type": "user", "message": {"role": "user", "content": [result]},
               "toolUseResult": {"file": {"content": shown}}, **time_of}  # fmt: skip
        if number % 400 == 0:
            yield {**told, "type": "system", "subtype": "compact_boundary", **time_of,
                   "compactMetadata": {"trigger": "auto"}}  # fmt: skip
            summary = {"role": "user", "content": "The importer was looked at. " * 60}
            yield {**told, "type": "user", "isCompactSummary": True, "message": summary, **time_of}


def codex(texts: list[str], size: int, seed: int) -> Iterator[dict[str, Any]]:
    """Records of a Codex session of about so many bytes."""
    drawn = random.Random(seed)
    yield {"type": "session_meta", "payload": {"id": f"s{seed}", "cwd": "/srv/shop"}}
    written = number = 0
    typed: list[dict[str, Any]] = []

    def line(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
        return {"timestamp": "2026-10-05T10:00:00Z", "type": kind, "payload": payload}

    def message(role: str, text: str) -> dict[str, Any]:
        return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}

    while written < size:
        number += 1
        shown = drawn.choice(texts)
        written += 2 * len(shown) + 800
        if number % 10 == 1:
            typed = [*typed[-20:], message("user", "Please go on with the worker.")]
            yield line("response_item", typed[-1])
        call = {"cmd": f"sed -n 1,200p src/a{number}.py"}
        yield line("response_item", {"type": "function_call", "name": "exec_command",
                                     "call_id": f"c{number}", "arguments": json.dumps(call)})  # fmt: skip
        yield line(
            "response_item",
            {"type": "function_call_output", "call_id": f"c{number}", "output": shown},
        )
        yield line("event_msg", {"type": "exec_command_end", "stdout": shown})
        if number % 400 == 0:
            yield line(
                "compacted",
                {"message": "", "replacement_history": [*typed, message("user", "So far.")]},
            )


def write(folder: Path, size: int) -> list[Path]:
    """Session files of so many bytes together."""
    texts = code()
    made: list[Path] = []
    left = size
    while left > 0:
        number = len(made)
        path = folder / f"{number:04}.jsonl"
        records = (codex if number % 2 else claude)(texts, min(left, ONE_FILE), number)
        with path.open("w", encoding="utf-8") as stream:
            for one in records:
                stream.write(json.dumps(one, ensure_ascii=False, separators=(",", ":")) + "\n")
        left -= path.stat().st_size
        made.append(path)
    return made


def measured(made: list[Path], *, named: bool, folder: Path) -> None:
    """Print seconds and memory of one reading, in a process of its own."""
    child = os.fork()
    if child == 0:
        rules = folder / "rules.yaml"
        rules.write_text(RULES, encoding="utf-8")
        _read(made, rules if named else None)
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(child, 0)


def _read(made: list[Path], rules: Path | None) -> None:
    from constraintrot.coding_agents.sessions import sessions
    from constraintrot.coding_agents.sessions.events import Session
    from constraintrot.doctor.rules import read
    from constraintrot.doctor.verdicts import diagnose

    size = sum(path.stat().st_size for path in made)
    given = read(rules) if rules else None
    wall, used = time.perf_counter(), time.process_time()
    opened = [one for path in made for one in sessions(path) if isinstance(one, Session)]
    found = [diagnose(one, given) for one in opened]
    wall, used = time.perf_counter() - wall, time.process_time() - used
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    what = f"{len(given)} rules named" if given else "rules as said"
    lost = sum(len(one.lost()) for one in found)
    print(
        f"{size / 1e9:.2f} GB in {len(made)} files, {what}: {wall:.0f} s, of the processor"
        f" {used:.0f} s ({size / 1e6 / used:.0f} MB/s), {memory:.0f} MB at most;"
        f" {sum(len(one.compactions) for one in found)} compactions, {lost} losses"
    )


def main() -> None:
    """Generate, read with rules named and without, and print a line of each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--folder", type=Path, help="where to write; by default a scratch folder")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder: Path = given.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        made = write(folder, int(given.gigabytes * 1e9))
        sys.stdout.flush()
        for named in (True, False):
            measured(made, named=named, folder=folder)


if __name__ == "__main__":
    main()
