"""Results that somebody hands in, as a folder that anyone can check: ``results/contributed/``."""
