"""Recorded compaction of an episode's history, and the counterfactuals derived from it."""
