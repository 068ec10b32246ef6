"""Scaffolds: what an agent is told about the form of its answer, and how that is read."""
