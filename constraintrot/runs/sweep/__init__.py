"""Sweeps: many evaluations as one Inspect Flow spec, planned, played and resumed.

A sweep is a matrix of *cells*; a cell is one evaluation, as one ``FlowTask`` of the spec.
``axes`` makes specs of this project's axes, ``planning`` computes their cost, ``local`` plays
them with Flow on this machine, and ``driver`` with ``ray_pool`` spreads them over a Ray cluster.
Both put each cell's log into the same folder (``folder``), once.
"""
