"""The package's Inspect providers: ``local/``, ``scripted/`` and ``litellm/``."""
