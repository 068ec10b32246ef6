"""Benchmark of the context pipeline, no assertion on time.

``python tests/bench_pipeline.py`` prints CPU milliseconds of a request through all layers of
the profile ``kept``, and of each layer: 58 tools, ten pins, a conversation of 100 exchanges
that was sent before, and a new request each time. No model and no embedding is involved.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
# This folder has a package of the name results as well.
sys.path.remove(str(Path(__file__).resolve().parent))

from results.tools.pipeline.layers import conversation, measured, traced

REQUESTS = 300


def figures() -> list[str]:
    """One line for each layer."""
    traced(20)
    lines = [f"a request of {len(conversation()) + 1} messages through the pipeline, ms of CPU"]
    for row in measured(REQUESTS):
        if row["ms_median"]:
            lines.append(
                f"{row['layer']:16} median {row['ms_median']:>7}   p95 {row['ms_p95'] or '-':>7}"
            )
    return lines


if __name__ == "__main__":
    sys.stdout.write("\n".join(figures()) + "\n")
