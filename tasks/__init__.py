"""The Inspect tasks: nine families, ``suite``, ``utility``, and those of defenses and attacks."""
