"""A process that ingests until it kills itself: ``python -m tests.memory.wiki.writer``.

Arguments: the vault, which of two writers (0 or 1), how many ingests at most, and at which of
its calls of the disk it dies, by a signal that nothing catches; 0 for none.
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from constraintrot.memory.wiki import Edit, Plan, Source, Wiki

SUBJECTS = 200
TIME = "2026-04-01T09:00:00Z"


def memo(number: int) -> tuple[Source, Plan]:
    """Return an ingest by its number: a new fact for each of two linked subjects."""
    first, second = number % SUBJECTS, (number * 7 + 1) % SUBJECTS
    fact = f"Memo {number} says so."
    edits = [Edit("entity", f"Subject {first}", f"Last told of in memo {number}", (fact,))]
    if second != first:
        link = (f"Subject {first}",)
        edits.append(Edit("entity", f"Subject {second}", "", (fact,), links=link))
    return Source(f"Memo {number}", f"{fact}\n" * 3), Plan(tuple(edits))


def numbers(wiki: Wiki) -> list[int]:
    return [int(one.source.rpartition("-")[2]) for one in wiki.log() if one.source]


def _dying_at(count: int) -> None:
    left = count

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*given: Any, **named: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            done = call(*given, **named)
            return done

        return called

    # A file is opened, written and renamed by these; a journal is removed by the last.
    os.replace = counted(os.replace)
    os.open = counted(os.open)
    os.write = counted(os.write)
    os.unlink = counted(os.unlink)


def main(vault: Path, parity: int, most: int, dies_at: int) -> None:
    """Ingest the memos that this writer has not ingested yet."""
    # A kill of a process loses nothing that it wrote, synced or not.
    os.fsync = lambda handle: None  # type: ignore[assignment]
    wiki = Wiki(vault)
    mine = [number for number in numbers(wiki) if number % 2 == parity]
    begin = max(mine, default=parity - 2) + 2
    if dies_at:
        _dying_at(dies_at)
    for number in range(begin, begin + 2 * most, 2):
        wiki.ingest(*memo(number), time=TIME)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:5]))
