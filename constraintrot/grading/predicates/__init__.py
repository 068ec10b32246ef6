"""Violation predicates, each in a module of its name; the contract is in ``scenario.predicate``."""
