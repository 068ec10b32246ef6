"""The receipts that a pin's hook wrote: one line for each text that it handed out."""

from __future__ import annotations

import hmac
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Receipts:
    """What a pin's hook wrote, as far as it was the hook that wrote it.

    Attributes:
        kept: the receipts whose seal is of the pin's key, oldest first.
        forged: numbers of the lines whose seal is not, from 1.
    """

    kept: tuple[dict[str, Any], ...]
    forged: tuple[int, ...]


def read_receipts(folder: Path) -> Receipts:
    """The receipts in a pin's folder.

    A line counts only with a seal by the key of the folder. Who can read that key can
    write receipts; nobody else can.
    """
    try:
        key = (folder / "key").read_bytes()
        lines = (folder / "receipts.jsonl").read_bytes().splitlines()
    except FileNotFoundError:
        return Receipts((), ())
    kept, forged = [], []
    for number, line in enumerate(lines, start=1):
        receipt = _opened(line, key)
        if receipt is None:
            forged.append(number)
        else:
            kept.append(receipt)
    return Receipts(tuple(kept), tuple(forged))


def _opened(line: bytes, key: bytes) -> dict[str, Any] | None:
    try:
        read = json.loads(line)
        receipt, seal = read["receipt"], read["seal"]
        body = json.dumps(receipt, sort_keys=True, separators=(",", ":")).encode("ascii")
        if hmac.compare_digest(hmac.new(key, body, "sha256").hexdigest(), seal):
            return dict(receipt)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    return None
