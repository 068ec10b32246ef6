"""Coding agents, known once: their catalogue, wire formats, endpoint, drivers, pins and sessions."""
