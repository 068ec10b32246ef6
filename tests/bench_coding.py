"""How long nine samples take in each installed coding agent: ``python tests/bench_coding.py [AGENT ...]``.

Three variants, each the floor, the control and the compaction, by a scripted model. Beside
the time on the clock, which depends on what else runs, there is that of the processors,
with all that the agents started.
"""

import resource
import subprocess
import sys
import tempfile
import time

from constraintrot.coding_agents.catalogue import PACKAGES, Package
from constraintrot.coding_agents.install import find


def seconds(package: Package) -> tuple[float, float]:
    """The seconds on the clock and of the processors."""
    words = [
        sys.executable, "-m", "inspect_ai", "eval", "constraintrot/soft_email", "--model",
        "scripted/obedient", "--display", "none", "-T", f"harness=coding/{package.agent}",
        "-T", "variants=3", "-T", "conditions=floor,control,compaction",
    ]  # fmt: skip
    before, started = _spent(), time.monotonic()
    with tempfile.TemporaryDirectory() as logs:
        subprocess.run([*words, "--log-dir", logs], check=True)
    return time.monotonic() - started, _spent() - before


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    for one in PACKAGES:
        if find(one) and (not sys.argv[1:] or one.agent in sys.argv[1:]):
            clock, processors = seconds(one)
            print(f"{one.title:<12} {clock:6.0f} s, {processors:6.0f} s of processors", flush=True)
