"""Measurements of the context pipeline, and its tables, figures and page."""
