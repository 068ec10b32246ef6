"""Texts to vectors: the embedding models, where their files come from, and what runs them."""
