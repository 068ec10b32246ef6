"""Seed files: blocks written down in a file, read once at the start (section 2.2)."""

from constraintrot.defenses.rampart.seeds.library import LARGEST, PARSERS, SeedLibrary, Source, read
from constraintrot.defenses.rampart.seeds.parsers import Parser, Parsers, Seed

__all__ = ["LARGEST", "PARSERS", "Parser", "Parsers", "Seed", "SeedLibrary", "Source", "read"]
