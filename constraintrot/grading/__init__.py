"""Grading: from tool calls to a verdict, from texts to survival. Nothing here imports Inspect."""
