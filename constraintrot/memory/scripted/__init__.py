"""Scripted models for the roles of a playbook and a wiki."""

from constraintrot.memory.scripted import playbook, wiki

__all__ = ["playbook", "wiki"]
