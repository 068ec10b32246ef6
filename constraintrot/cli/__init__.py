"""The ``constraintrot`` command: ``main``, and one module per command."""
