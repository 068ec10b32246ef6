"""The Inspect tasks: nine families, ``suite``, ``utility``, and tasks about defenses and attacks."""
