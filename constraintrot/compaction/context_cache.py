"""One compacted context for all conditions that differ only after the compaction.

``compaction``, ``summary_removed`` and ``summary_restored`` of one variant and
replicate must start from the same bytes. The first sample to run compacts. The
result is written to a file of the run, so that a run that was killed and is
continued with ``inspect eval-retry`` reads it again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from weakref import WeakValueDictionary

import anyio
from platformdirs import user_cache_path
from pydantic import ValidationError

from constraintrot.compaction.rounds import Compacted
from constraintrot.errors import EpisodeError

KEEP_DAYS = 30
_locks: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()


def run_id() -> str:
    """The id of the task run, which is unique and which a retry keeps.

    No public function of Inspect gives it to a running sample.

    Raises:
        EpisodeError: no Inspect sample is running.
    """
    from inspect_ai._control.eval_state import stable_task_id_for_eval
    from inspect_ai.log._samples import sample_active

    active = sample_active()
    if active is None:
        raise EpisodeError("contexts are shared only within a running Inspect sample")
    return stable_task_id_for_eval(active.eval_id)


def digest(facts: Mapping[str, object]) -> str:
    """A hash of the facts that a compacted context depends on, as 24 hex digits."""
    text = json.dumps(facts, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


async def shared(
    run: str, key: str, make: Callable[[], Awaitable[Compacted]]
) -> tuple[Compacted, bool]:
    """The compacted context of a key, made once per run.

    Args:
        run: the run's id.
        key: ``digest`` of what the context depends on.
        make: compacts; called if the run has no context of this key yet.

    Returns:
        The context, and whether this call made it.
    """
    path = folder() / run / f"{key}.json"
    name = str(path)
    lock = _locks.setdefault(name, anyio.Lock())
    async with lock:
        cached = _read(path)
        if cached is not None:
            return cached, False
        made = await make()
        _write(path, made)
        return made, True


def folder() -> Path:
    """The folder of all runs' contexts; the environment variable ``CONSTRAINTROT_CACHE`` moves it."""
    root = os.environ.get("CONSTRAINTROT_CACHE")
    return (Path(root) if root else user_cache_path("constraintrot")) / "contexts"


def prune(keep_days: float = KEEP_DAYS) -> None:
    """Delete the contexts of runs that were not written to for ``keep_days`` days."""
    limit = time.time() - keep_days * 86_400
    if not folder().is_dir():
        return
    for run in folder().iterdir():
        if run.is_dir() and run.stat().st_mtime < limit:
            shutil.rmtree(run, ignore_errors=True)


def _read(path: Path) -> Compacted | None:
    try:
        return Compacted.model_validate_json(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValidationError):
        # Missing, or cut short when the run was killed: it is made again.
        return None


def _write(path: Path, compacted: Compacted) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
        file.write(compacted.model_dump_json())
    os.replace(file.name, path)
