"""Measurements of playbooks: collapse, adaptation, starvation by counters, contradictions."""
