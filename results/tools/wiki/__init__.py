"""Measurements of the living wiki; see ``__main__``."""
