"""The texts and names that drafts are put together from."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from constraintrot.documents import load


@cache
def stock_texts() -> Mapping[str, Any]:
    found: Mapping[str, Any] = load(Path(__file__).with_name("stock_texts.yaml"))
    return found
