"""Texts to vectors: the embedding models, their files, and their backends."""
