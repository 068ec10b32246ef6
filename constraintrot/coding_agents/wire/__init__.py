"""The four model APIs that coding agents speak: ``conversation`` reads, ``answers`` writes.

Neither needs Inspect; ``messages`` converts to Inspect's types. Nothing here calls a model.
"""
