"""Scenarios of a user's own: drafted from a sentence, and checked as the built-in ones are."""
