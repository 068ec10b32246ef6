"""Committed results: an index of runs, their joined report, and the paper's claims one by one.

A folder holds ``runs.yaml`` (one entry a run), ``frames/`` (the episodes of each),
``reproduction.yaml`` (claims, queries, verdicts) and ``README.md``. All else in it
that has to do with runs is made from these: ``python -m results.tools
FOLDER``, and with ``--check`` nothing is written and any difference is an error.
"""
