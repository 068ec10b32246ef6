"""A page of the families where its subjects qualify."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from constraintrot.report.page.source import Source
from constraintrot.report.qualified import Level, claimable


def applied(source: Source, paths: Sequence[Path], level: Level = "bounds") -> Source:
    """A report's source with the episodes that claims may use, and the lines among its notices.

    Args:
        source: what was read.
        paths: files of ``constraintrot qualify``, or folders of them; without any,
            nothing changes.
        level: as in ``report.qualified.restricted``.

    Raises:
        ConstraintRotError: as ``report.qualified.claimable``.
    """
    if not paths:
        return source
    frame, lines = claimable(source.frame, paths, level)
    planned, _ = claimable(source.planned, paths, level)
    return dataclasses.replace(
        source, frame=frame, planned=planned, notices=[*lines, *source.notices]
    )
