"""Grading: verdicts from tool calls, survival states from texts. Nothing here imports Inspect."""
