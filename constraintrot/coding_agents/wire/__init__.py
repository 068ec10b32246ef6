"""The four model APIs that coding agents speak: ``requests`` reads, ``answers`` writes.

Neither needs Inspect; ``messages`` has a request as Inspect's messages. Nothing here asks a model.
"""
