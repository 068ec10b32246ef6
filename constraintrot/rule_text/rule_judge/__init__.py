"""A small adapter that judges whether a request breaks a rule.

It is a model organism: trained to keep rules that it sees, and not on compaction.
``card.md`` beside this file describes its training and its accuracy.
"""
