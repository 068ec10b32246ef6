"""Readers that find rules in prose."""
