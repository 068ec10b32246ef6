"""Tasks beside a piece of work, whose errors are those of the work itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskGroup


@asynccontextmanager
async def background() -> AsyncIterator[TaskGroup]:
    """A task group that is cancelled when the work in it is done.

    An error of the work is raised as it is: a task group would wrap it, and who catches
    it, Inspect's limits among them, would not know it again.
    """
    fault: Exception | None = None
    async with anyio.create_task_group() as group:
        try:
            yield group
        except Exception as error:
            fault = error
        finally:
            group.cancel_scope.cancel()
    if fault is not None:
        raise fault
