"""Recorded sessions through several summarizers, each with the rule pinned and without."""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from inspect_ai.log import read_eval_log_sample_summaries

from constraintrot.errors import ConstraintRotError, ParameterError
from constraintrot.report.frame import planned_episodes
from constraintrot.report.table import text
from constraintrot.runs.plan import Size, counted
from constraintrot.runs.play import continued, display, page
from constraintrot.tasks.mine import mine

SUMMARIZERS: tuple[Mapping[str, str], ...] = (
    {"compactor": "summarize", "prompt": "continue_work"},
    {"compactor": "summarize", "prompt": "handoff"},
    {"compactor": "summarize", "prompt": "constraint_aware"},
    {"compactor": "inspect_summary"},
)
_BY = ("compactor", "prompt", "defense")
_FIXED = ("scenario", "conditions", *_BY)
_SCRIPTED = (
    "\n! {model} is a script, not a model: it shows that the comparison runs, and what the pin"
    " does to the context. For an answer, name a model with --model."
)


def compared(
    scenarios: Path, model: str, given: Mapping[str, Any], agree: Callable[[Size], None]
) -> str:
    """Play the rest of a comparison, and return its table and the path of its page.

    ``scenarios`` is a file or a folder of files. ``agree`` gets the whole size before anything is
    played, and raises to stop.
    """
    if fixed := [name for name in _FIXED if name in given]:
        raise ParameterError(f"-T {fixed[0]} is the comparison's to set")
    pairs = [{**one, "defense": defense} for one in SUMMARIZERS for defense in ("none", "pin")]
    cells = [
        {"conditions": "floor,control"},
        *({"conditions": "compaction", **one} for one in pairs),
    ]
    tasks = [{**given, "scenario": str(scenarios), **one} for one in cells]
    size = sum((counted("constraintrot/mine", one) for one in tasks), Size())
    agree(size)
    folder = _folder(scenarios, given) / model.replace("/", "-")
    scripted, local = model.startswith("scripted/"), model.startswith("local/")
    finished, logs = continued(
        [mine(**one) for one in tasks], str(folder / "logs"), model=model, log_buffer=1,
        display="none" if scripted else display(),
        **({"max_tasks": 1, "max_samples": 1} if local else {}),
    )  # fmt: skip
    places = [log.location for log in logs]
    if not finished:
        told = [one.error for place in places for one in read_eval_log_sample_summaries(place)]
        why = next((f": {error}" for error in told if error), "")
        raise ConstraintRotError(f"not all was played{why}; the same command plays the rest")
    said = text(planned_episodes(places), by=_BY)
    return f"{said}{_SCRIPTED.format(model=model) if scripted else ''}\n\n{page(places, folder)}"


def _folder(scenarios: Path, given: Mapping[str, Any]) -> Path:
    files = [scenarios] if scenarios.is_file() else sorted(scenarios.glob("*.y*ml"))
    parts = [*(one.read_bytes() for one in files), repr(sorted(given.items())).encode()]
    digest = hashlib.sha256(b"\0".join(parts)).hexdigest()[:8]
    return scenarios.with_name(f"{scenarios.stem}-compared-{digest}")
