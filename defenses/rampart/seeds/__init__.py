"""Seed files: blocks written down in a file, read once at the start (section 2.2)."""

from constraintrot.defenses.rampart.seeds.library import SeedLibrary
from constraintrot.defenses.rampart.seeds.parsers import Parser, Parsers, Seed
from constraintrot.defenses.rampart.seeds.reading import LARGEST, PARSERS, Source, read

__all__ = ["LARGEST", "PARSERS", "Parser", "Parsers", "Seed", "SeedLibrary", "Source", "read"]
