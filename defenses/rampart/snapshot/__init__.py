"""Snapshots: a registry's state in one authenticated file."""

from constraintrot.defenses.rampart.snapshot.sealed_file import LARGEST, SHORTEST_KEY, read, write

__all__ = ["LARGEST", "SHORTEST_KEY", "read", "write"]
