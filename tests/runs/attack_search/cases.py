"""What the tests of the search share: running one on scripts."""

from pathlib import Path
from typing import Any

from constraintrot.attacks.search_results.journal import Journal
from constraintrot.runs.attack_search.run import search
from tests.attacks.search_results.cases import settings


def searched(
    folder: Path, kind: str = "half", queries: int = 30, said: list[str] | None = None, **more: Any
) -> Journal:
    """Run a search to its end, or go on with it."""
    # Shorter than a task's default, as in tests/conftest.py.
    parameters = {"context_tokens": 800, **more.pop("parameters", {})}
    wanted = settings(kind, parameters=parameters, **more)
    said = list[str]() if said is None else said
    path = folder / "found.jsonl"
    return search(wanted, path, queries=queries, log_dir=str(folder / "logs"), say=said.append)
