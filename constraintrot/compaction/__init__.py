"""Compaction of an episode's history, recorded, and the counterfactuals derived from it."""
