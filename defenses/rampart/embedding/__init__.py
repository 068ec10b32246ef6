"""Embeddings of blocks and queries: the models, the search, and the gate that uses it."""
