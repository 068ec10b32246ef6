"""The folder that what was fetched is kept in."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

CACHE_VARIABLE = "CONSTRAINTROT_CACHE"


def folder() -> Path:
    """The folder of the cached weights; it may not exist yet."""
    root = os.environ.get(CACHE_VARIABLE) or platformdirs.user_cache_dir("constraintrot")
    return Path(root).expanduser() / "models"
