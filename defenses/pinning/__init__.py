"""Constraint Pinning: a registry's pins in the context of whatever calls the model."""
