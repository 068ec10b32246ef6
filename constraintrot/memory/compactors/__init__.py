"""Compactors that keep a playbook or a wiki."""

from constraintrot.memory.compactors import playbook, playbook_rewrite, wiki

__all__ = ["playbook", "playbook_rewrite", "wiki"]
