"""A small adapter that reads the state of rules in a text, and which sentences state rules.

It only measures. ``card.md`` beside this file describes its training and its accuracy.
"""
