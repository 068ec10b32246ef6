"""Random conversations through every hook that pins: ``python -m results.tools.pin_soak``."""
