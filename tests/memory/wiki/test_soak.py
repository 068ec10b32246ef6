"""Ingests by two processes that are killed again and again: nothing is lost, nothing twice."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from constraintrot.memory.wiki import Wiki
from tests.memory.wiki.writer import memo, numbers
from tests.small_install import ROOT


def started(vault: Path, parity: int, most: int, dies_at: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.memory.wiki.writer"]
    command += [str(vault), str(parity), str(most), str(dies_at)]
    return subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})


def check(wiki: Wiki) -> int:
    """Check that all logged ingests are there once, and return their number."""
    assert wiki.lint() == []
    told = numbers(wiki)
    assert len(told) == len({*told})
    bodies = {name: wiki.page(name) for name in {*wiki.store.files("entities")}}
    for number in told:
        _, plan = memo(number)
        for edit in plan.edits:
            page = bodies[edit.title.lower().replace(" ", "-")]
            assert page is not None
            assert page.body.count(f"- {edit.add[0]} ([[2026-04-01-memo-{number}]])") == 1
        assert wiki.store.exists(f"sources/2026-04-01-memo-{number}.md")
    return len(told)


def run(vault: Path, ingests: int, calls: int, writers: int, seed: int) -> tuple[int, int]:
    """Ingest up to a number of sources; return the numbers of kills and of repairs by lint."""
    draw = random.Random(seed)
    wiki = Wiki.create(vault)
    killed = repaired = rounds = 0
    while (done := len(numbers(wiki))) < ingests:
        rounds += 1
        running = [
            started(vault, parity, (ingests - done) // 2 + 1, draw.randrange(1, calls))
            for parity in draw.sample((0, 1), writers)
        ]
        killed += sum(process.wait() == -9 for process in running)
        # Lint reads the whole vault, so not after every kill; most are finished by the next writer.
        if rounds % 8 == 1:
            found = wiki.lint()
            assert all(one.repaired for one in found), found
            repaired += len(wiki.repair())
    wiki.repair()
    return killed, repaired


@pytest.mark.skipif(sys.platform == "win32", reason="its signals")
def test_ingests_with_a_kill(tmp_path: Path) -> None:
    wiki = Wiki.create(tmp_path / "vault")
    cut_off = 0
    for dies_at in range(60, 90, 6):
        assert started(tmp_path / "vault", 0, 8, dies_at).wait() == -9
        found = wiki.lint()
        assert wiki.repair() == found
        # Some die between two ingests.
        cut_off += bool(found)
    assert cut_off > 1
    assert check(wiki) > 1


@pytest.mark.soak
@pytest.mark.skipif(sys.platform == "win32", reason="its signals")
def test_10_000_ingests_with_kills(tmp_path: Path) -> None:
    killed, repaired = run(tmp_path / "vault", 10_000, 6_000, 2, seed=2)
    wiki = Wiki(tmp_path / "vault")
    assert check(wiki) >= 10_000
    assert killed > 50
    assert repaired > 5
