"""The samples of a log without their transcripts: what a frame takes of them is the least part."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any
from zipfile import ZipFile

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

ENDING = ".eval"
# Of the fields of Inspect's samples, these are long, and of no use for a verdict.
_TRANSCRIPT = ("messages", "output", "events", "events_data", "attachments", "store", "timelines")


def samples(path: str, header: EvalLog, file: IO[bytes] | None = None) -> Iterator[EvalSample]:
    """Each sample of a log, in its order; of an ``.eval`` log without the transcript.

    Inspect reads a sample whole, validates every event and opens the log anew for each,
    which takes ten times as long.

    Args:
        path: the log, as Inspect takes it.
        header: its header.
        file: the opened log, unless it is a file of this machine.
    """
    from inspect_ai.log import EvalSample, read_eval_log_samples

    ids = header.eval.dataset.sample_ids
    if not path.endswith(ENDING) or ids is None:
        yield from read_eval_log_samples(path, all_samples_required=False)
        return
    # Importing Inspect has taught ZipFile its compression.
    with ZipFile(file or path) as archive:
        known = set(archive.namelist())
        for sample_id in ids:
            for epoch in range(1, (header.eval.config.epochs or 1) + 1):
                name = f"samples/{sample_id}_epoch_{epoch}.json"
                if name not in known:
                    continue
                yield EvalSample.model_validate(_fields(archive, name))


def _fields(archive: ZipFile, name: str) -> dict[str, Any]:
    try:
        fields = json.loads(archive.read(name))
    except (NotImplementedError, RuntimeError, struct.error) as error:
        # So zipfile names an unknown compression, a password and a cut-off header.
        raise ValueError(f"{name} is damaged: {error}") from error
    return {key: value for key, value in dict(fields).items() if key not in _TRANSCRIPT}
