"""Inspect providers of our own: in this process, scripted, and through LiteLLM."""
