"""Inspect logs (``.eval`` and ``.json``), a session a sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from constraintrot.coding_agents.sessions.events import Event, Losses
from constraintrot.coding_agents.sessions.inspect_messages import conversation
from constraintrot.extras import installed


def is_log(path: Path, head: bytes) -> bool:
    """Whether a file is an Inspect log, by its name and first bytes."""
    if path.suffix == ".eval":
        return head.startswith(b"PK")
    return path.suffix == ".json" and b'"eval"' in head and b'"version"' in head


def samples(path: Path) -> Iterator[tuple[str, Callable[[Losses], Iterator[Event]]]]:
    """Name and events of each sample.

    Raises:
        MissingExtraError: inspect_ai is not installed.
    """
    if not installed("inspect_ai"):
        from constraintrot.errors import MissingExtraError

        raise MissingExtraError(
            f"{path} is an Inspect log, which needs inspect_ai: pip install 'constraintrot[inspect]'"
        )
    from inspect_ai.log import read_eval_log_sample_summaries

    for summary in read_eval_log_sample_summaries(str(path)):
        name = f"{path}#{summary.id}/{summary.epoch}"
        yield name, partial(_sample, path, summary.id, summary.epoch)


def _sample(path: Path, key: int | str, epoch: int, losses: Losses) -> Iterator[Event]:
    from inspect_ai.log import read_eval_log_sample

    sample = read_eval_log_sample(str(path), key, epoch, resolve_attachments=True)
    yield from conversation(f"{key}/{epoch}", sample.messages, sample.events)
