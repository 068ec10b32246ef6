"""Scaffolds: the answer format in the prompt, and its parser; the steps of ``review``."""
