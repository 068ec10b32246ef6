"""Gating calls: each is checked against the policies by a verifier before it runs."""
