"""Committed results: an index of runs, their joined report, and the paper's claims one by one.

A folder has ``runs.yaml`` (one entry per run), ``frames/`` (the episodes of each run),
``reproduction.yaml`` (claims, queries, verdicts) and ``README.md``. ``python -m
results.tools FOLDER`` generates all other files about runs from these. With
``--check`` it writes nothing, and any difference is an error.
"""
