"""Episodes a minute with llama.cpp's slots, no assertion: ``python tests/bench_slots.py``.

The same episodes are played with 1, 2 and 4 samples at once, each in as many slots of one
server in a process of its own (``-M parallel=N``, ``--max-samples N``). Beside the time on the
clock stand the prompt tokens that were processed and those that came from the prefix cache: a
slot has a cache of its own, so more slots share fewer prefixes.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ["INSPECT_DISPLAY"] = "none"

SLOTS = (1, 2, 4)


def played(model: str, slots: int, variants: int, context_tokens: int) -> dict[str, float]:
    """What one evaluation with so many samples at once comes to.

    Raises:
        SystemExit: an episode ended in an error.
    """
    from inspect_ai import eval as inspect_eval

    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        (log,) = inspect_eval(
            "constraintrot/soft_email",
            model=model,
            model_args={"parallel": slots},
            max_samples=slots,
            max_connections=slots,
            task_args={"variants": variants, "context_tokens": context_tokens},
            log_dir=folder,
            display="none",
        )
        seconds = time.perf_counter() - start
        samples = log.samples or []
    if log.status != "success":
        raise SystemExit(f"{slots} at once: {log.status}, {log.error}")
    uses = [use for sample in samples for use in sample.model_usage.values()]
    return {
        "at once": slots,
        "episodes": len(samples),
        "seconds": round(seconds, 1),
        "episodes a minute": round(60 * len(samples) / seconds, 2),
        "prompt tokens processed": sum(use.input_tokens for use in uses),
        "from the cache": sum(use.input_tokens_cache_read or 0 for use in uses),
        "tokens written a second": round(sum(use.output_tokens for use in uses) / seconds, 1),
    }


def main() -> None:
    """Print one JSON object for each number of slots."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="local/qwen2.5-coder-1.5b")
    parser.add_argument("--slots", type=int, help="play with so many alone, in this process")
    parser.add_argument("--variants", type=int, default=4)
    parser.add_argument("--context-tokens", type=int, default=300)
    given = parser.parse_args()
    if given.slots is not None:
        done = played(given.model, given.slots, given.variants, given.context_tokens)
        print(json.dumps(done), flush=True)
        return
    words = [sys.executable, __file__, "--model", given.model, "--variants", str(given.variants)]
    words += ["--context-tokens", str(given.context_tokens)]
    for slots in SLOTS:
        subprocess.run([*words, "--slots", str(slots)], check=True)


if __name__ == "__main__":
    main()
