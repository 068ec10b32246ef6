"""The Inspect tasks: nine by name, ``suite``, ``utility`` and ``pin_stress``."""
