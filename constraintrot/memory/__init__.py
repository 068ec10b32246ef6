"""Memory that outlives a session: playbooks, a wiki, and a layered pipeline.

The wing registers its parts through this package's own entry points; nothing outside imports it.
"""
