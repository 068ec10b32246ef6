"""The context pipeline: what stands between an agent and its model, in layers.

Each layer is a small part with one interface (``Layer``: a context in, a context and a
trace out), used alone or in a ``Pipeline``, which puts a registry's pins behind all of
them. ``profiles`` names the layers, ``inspect_agent`` and ``langchain`` put a pipeline
into an agent.
"""

from constraintrot.memory.pipeline.budget import Budget
from constraintrot.memory.pipeline.context import Context, PipelineOverflowError, Session, Trace
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
