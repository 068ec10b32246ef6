"""Defenses: three optional hooks around an agent's context, by name.

Outside the benchmark a defense is three lines:

>>> from constraintrot.defenses import make
>>> defense = make("spotlight")
>>> messages = await defense.assemble(messages)  # doctest: +SKIP

``constraintrot.evaluation.defense`` says what a defense is, and how to add one.
"""

from constraintrot.evaluation.defense import (
    DEFENSES,
    HOOKS,
    MEASURING,
    ChosenDefense,
    Defense,
    DefenseSpec,
    Deployment,
    Hook,
    Stacked,
    defense,
    make,
    rules_of,
)

__all__ = [
    "DEFENSES",
    "HOOKS",
    "MEASURING",
    "ChosenDefense",
    "Defense",
    "DefenseSpec",
    "Deployment",
    "Hook",
    "Stacked",
    "defense",
    "make",
    "rules_of",
]
