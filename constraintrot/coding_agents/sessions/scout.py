"""Services that Inspect Scout reads: LangSmith, Phoenix, Logfire and Weave.

Only a name such as ``langsmith:PROJECT`` causes requests to a service. Scout's sources read
the project's traces with the service's own package and its key from the environment. If a
service refuses, they log the error and return nothing.
"""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from constraintrot.coding_agents.sessions.events import Event, Losses, Refused, Session
from constraintrot.coding_agents.sessions.inspect_messages import conversation
from constraintrot.errors import ConstraintRotError, MissingExtraError
from constraintrot.extras import installed

SERVICES = ("langsmith", "phoenix", "logfire", "weave")


def service(named: str) -> tuple[str, str] | None:
    """Return the name and project of a text such as ``langsmith:PROJECT``; None for a path."""
    name, colon, project = named.partition(":")
    return (name, project) if colon and name in SERVICES else None


def of_service(name: str, project: str) -> Iterator[Session | Refused]:
    """Yield the sessions of a project at a service."""
    if not installed("inspect_scout"):
        raise MissingExtraError(
            f"{name}:{project} is read through Inspect Scout: pip install 'constraintrot[scout]'"
        )
    from inspect_scout import sources

    with _logged() as told:
        try:
            found = _gathered(getattr(sources, name)(project or None))
        except Exception as error:
            # A missing package, key or network: the source's message names it.
            raise ConstraintRotError(f"{name}:{project}: {error}") from error
    if told and not found:
        raise ConstraintRotError(f"{name}:{project}: {told[0]}")
    yield from _sessions(name, Path(f"{name}:{project}"), found, told)


@contextmanager
def _logged() -> Iterator[list[str]]:
    """Collect Scout's warnings: it logs failed requests and skipped traces instead of raising."""
    told: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: told.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("inspect_scout")
    spread, level = logger.propagate, logger.level
    logger.propagate = False
    # Overrides a level that the caller set for all loggers.
    logger.setLevel(logging.WARNING)
    logger.addHandler(handler)
    try:
        yield told
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = spread


def _gathered(source: Any) -> list[Any]:
    async def all_of() -> list[Any]:
        return [transcript async for transcript in source]

    return asyncio.run(all_of())


def _sessions(
    kind: str, path: Path, found: list[Any], told: list[str]
) -> Iterator[Session | Refused]:
    for transcript in found:
        events = partial(_events, transcript)
        name = f"{path}#{transcript.transcript_id}"
        yield Session(path, name, kind, kind, 0, (), events)
    if not found:
        yield Refused(path, "it holds no session")
    elif told:
        yield Refused(path, f"not all of it was read, {len(told)} warnings; the first: {told[0]}")


def _events(transcript: Any, losses: Losses) -> Iterator[Event]:
    yield from conversation(
        str(transcript.transcript_id), transcript.messages, transcript.events, by_input=True
    )
