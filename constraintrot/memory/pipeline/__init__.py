"""The context pipeline: layers between an agent and its model.

Each layer has one interface (``Layer``: a context in, a context and a trace out). A ``Pipeline``
runs several, and adds a registry's pins after all of them. ``profiles`` lists the layers;
``inspect_agent`` and ``langchain`` put a pipeline into an agent.
"""

from constraintrot.memory.pipeline.context import (
    Budget,
    Context,
    PipelineOverflowError,
    Session,
    Trace,
)
from constraintrot.memory.pipeline.layer import Layer, Prepared
from constraintrot.memory.pipeline.pipeline import Pipeline

__all__ = [
    "Budget",
    "Context",
    "Layer",
    "Pipeline",
    "PipelineOverflowError",
    "Prepared",
    "Session",
    "Trace",
]
