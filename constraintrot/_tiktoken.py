"""The o200k vocabulary for tiktoken, from an installed package instead of the network.

Inspect counts with tiktoken for every model whose provider has no token counter,
and tiktoken downloads the vocabulary, so compaction would need a network.
"""

import gzip
import hashlib
import os
import tempfile
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from uuid import uuid4

# File name in tiktoken's cache: the SHA-1 of the URL that tiktoken downloads the table from.
NAME = "fb374d419588a4632f3f557e76b4b70aebbca790"
SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"


@cache
def share_vocabulary() -> None:
    """Write the table into tiktoken's cache if it is missing; runs once a process."""
    default = os.path.join(tempfile.gettempdir(), "data-gym-cache")
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", os.environ.get("DATA_GYM_CACHE_DIR", default))
    target = Path(folder) / NAME
    # An empty name turns tiktoken's cache off.
    if not folder or target.exists():
        return
    table = gzip.decompress((files("bpe_openai") / "data/o200k_base.tiktoken.gz").read_bytes())
    # tiktoken refuses a table with another hash.
    if hashlib.sha256(table).hexdigest() == SHA256:
        _write(target, table)


def _write(target: Path, table: bytes) -> None:
    # If the folder cannot be written, tiktoken downloads the table as before.
    with suppress(OSError):
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f"{target.name}.{uuid4()}.tmp")
        part.write_bytes(table)
        part.replace(target)
