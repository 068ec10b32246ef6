"""What is measured of playbooks: collapse, adaptation, starvation by counters, contradictions."""
