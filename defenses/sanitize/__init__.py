"""Sanitising of the tool results that a summarizer is shown."""
