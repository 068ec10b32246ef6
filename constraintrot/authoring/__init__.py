"""Users' own scenarios: drafted from a sentence, and checked like the built-in ones."""
