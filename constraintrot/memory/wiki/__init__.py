"""A living wiki as an agent's memory: W = (S, V, Σ) in plain Markdown.

It has sources that never change, pages that every ingest brings up to date, and a schema that
people keep. ``ingest`` is six ordered writes that are repairable after a kill at any point,
``query`` reads hot cache, index, pages and sources and states its path, ``lint`` checks every
promise. Only ``roles``, which asks models for plans, needs Inspect.
"""

from constraintrot.memory.wiki.graph import Finding, Graph
from constraintrot.memory.wiki.log import Entry
from constraintrot.memory.wiki.names import WikiError
from constraintrot.memory.wiki.page import Page, Section
from constraintrot.memory.wiki.plan import Edit, Plan, Source, read_plan
from constraintrot.memory.wiki.query import Answer, Read
from constraintrot.memory.wiki.schema import STEPS
from constraintrot.memory.wiki.stores import Folder, Memory, Store
from constraintrot.memory.wiki.wiki import Wiki
from constraintrot.memory.wiki.writing import Ingested

__all__ = [
    "STEPS",
    "Answer",
    "Edit",
    "Entry",
    "Finding",
    "Folder",
    "Graph",
    "Ingested",
    "Memory",
    "Page",
    "Plan",
    "Read",
    "Section",
    "Source",
    "Store",
    "Wiki",
    "WikiError",
    "read_plan",
]
