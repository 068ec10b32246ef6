"""Scaffolds: the answer format that a model is told, and its parser; the steps of ``review``."""
