"""A small adapter that judges whether a request breaks a rule.

It is a model organism: trained to keep rules that it sees, and not trained on
anything about compaction. ``card.md`` beside this file says what it was trained
on and how good it is.
"""
