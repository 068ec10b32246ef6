"""Models that run in this process: they sample to a schema, and may never stop by themselves."""

from __future__ import annotations


def is_in_process(model: object) -> bool:
    """Whether a model, or its name as Inspect prints it, is one of the provider ``local/``."""
    return str(model).startswith("local/")
