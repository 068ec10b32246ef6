"""A small adapter that reads what became of rules in a text, and which sentences state some.

It measures; no agent acts by it. ``card.md`` beside this file says what it was trained on and how
good it is.
"""
