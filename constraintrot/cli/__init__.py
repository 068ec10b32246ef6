"""The ``constraintrot`` command: ``main``, and one file a command."""
