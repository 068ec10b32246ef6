"""One draw of a summary for all the conditions that show a compactor the same messages.

``compaction``, its counterfactuals and the defenses that leave the summarizer alone
must start from one summary. So within a variant and replicate a compactor is asked
once for equal messages. The answer is kept in a file of the run, where
``inspect eval-retry`` finds it.
"""

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
from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    CompactionResult,
    CompactionStrategy,
    Model,
)
from inspect_ai.tool import ToolInfo
from platformdirs import user_cache_path
from pydantic import BaseModel, ValidationError

from constraintrot.compaction.strategy_wrapper import WrappedStrategy
from constraintrot.errors import EpisodeError, NoSummaryError

KEEP_DAYS = 30
_locks: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()
# By evaluation and file, in this process only: an evaluation that is retried asks anew.
_failed: dict[tuple[str, str], str] = {}


class Draw(BaseModel):
    input: list[ChatMessage]
    message: ChatMessageUser | None
    preserve_prefix: bool
    applied: str
    fallback_reason: str | None = None


class SharedDraws(WrappedStrategy):
    """A strategy that is asked once for equal messages, whichever condition shows them.

    ``key`` is what a draw depends on besides the messages; ``made``: whether this condition asked.
    """

    def __init__(self, inner: CompactionStrategy, key: str) -> None:
        super().__init__(inner)
        self.key = key
        self.made = False

    async def compact_outcome(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> CompactionResult:
        async def make() -> Draw:
            outcome = await self.inner.compact_outcome(model, messages, tools)
            return Draw(**outcome._asdict())

        shown = {
            "key": self.key,
            "messages": [message.model_dump(exclude={"metadata"}) for message in messages],
            "tools": [tool.name for tool in tools],
        }
        draw, made = await shared(*_run(), digest(shown), make)
        self.made |= made
        return CompactionResult(**{name: getattr(draw, name) for name in Draw.model_fields})


def _run() -> tuple[str, str]:
    """The id that a run keeps when it is retried, and this evaluation's. No public API has them."""
    from inspect_ai._control.eval_state import stable_task_id_for_eval
    from inspect_ai.log._samples import sample_active

    active = sample_active()
    if active is None:
        raise EpisodeError("summaries are shared only within a running Inspect sample")
    return stable_task_id_for_eval(active.eval_id), active.eval_id


def digest(facts: Mapping[str, object]) -> str:
    text = json.dumps(facts, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


async def shared(
    run: str, evaluation: str, key: str, make: Callable[[], Awaitable[Draw]]
) -> tuple[Draw, bool]:
    """Return the draw of a key, made once per run, and whether this call made it.

    A retry is another evaluation of the same run.

    Raises:
        NoSummaryError: the summarizer wrote nothing, now or earlier in this evaluation.
            Every condition that shares the draw then fails.
    """
    path = folder() / run / f"{key}.json"
    lock = _locks.setdefault(str(path), anyio.Lock())
    async with lock:
        found = _read(path)
        if found is not None:
            return found, False
        attempt = evaluation, str(path)
        if attempt in _failed:
            raise NoSummaryError(_failed[attempt])
        try:
            made = await make()
        except NoSummaryError as error:
            _failed[attempt] = str(error)
            raise
        _write(path, made)
        return made, True


def folder() -> Path:
    """The folder of the runs' draws; ``CONSTRAINTROT_CACHE`` moves it."""
    root = os.environ.get("CONSTRAINTROT_CACHE")
    return (Path(root) if root else user_cache_path("constraintrot")) / "contexts"


def prune(keep_days: float = KEEP_DAYS) -> None:
    limit = time.time() - keep_days * 86_400
    if not folder().is_dir():
        return
    for run in folder().iterdir():
        if run.is_dir() and run.stat().st_mtime < limit:
            shutil.rmtree(run, ignore_errors=True)


def _read(path: Path) -> Draw | None:
    try:
        return Draw.model_validate_json(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValidationError):
        # Missing, or cut short when the run was killed: it is made again.
        return None


def _write(path: Path, draw: Draw) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
        file.write(draw.model_dump_json())
    os.replace(file.name, path)
