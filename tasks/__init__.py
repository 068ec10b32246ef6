"""The Inspect tasks: nine by name, ``suite`` and ``utility``."""
