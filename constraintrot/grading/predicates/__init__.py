"""Violation predicates, one per module; the contract is in ``scenario.predicate``."""
