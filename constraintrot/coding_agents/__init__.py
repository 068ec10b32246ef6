"""Coding agents: their catalogue, wire formats, endpoint, drivers, pins and sessions."""
