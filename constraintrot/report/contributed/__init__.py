"""Contributed results, as folders that anyone can check: ``results/contributed/``."""
