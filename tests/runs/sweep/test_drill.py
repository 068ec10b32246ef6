"""A drill that is ended from outside leaves no process."""

import signal
import subprocess
import sys
from pathlib import Path

_DRILL = """
import subprocess, sys, time
from constraintrot.errors import ConstraintRotError
from tests.runs.sweep import drill
from tests.runs.sweep.drill_processes import end

def compared(_):
    driver = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        print(driver.pid, flush=True)
        time.sleep(600)
    finally:
        end(driver)

drill.compared, drill.require = compared, lambda *_: None
sys.exit(drill.main([]))
"""


def test_a_drill_that_is_told_to_end_ends_what_it_started() -> None:
    started = subprocess.Popen([sys.executable, "-c", _DRILL], stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    driver = int(started.stdout.readline())
    started.terminate()
    assert started.wait(timeout=120) == 128 + signal.SIGTERM
    assert not Path(f"/proc/{driver}").exists()
