"""Compacting an episode's history, recorded, and the counterfactuals that start from it."""
