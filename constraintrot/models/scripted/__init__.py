"""``scripted/NAME``: models that follow a rule, deterministic and offline, for tests."""
