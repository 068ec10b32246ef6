"""Sweeps: many evaluations as one Inspect Flow spec, planned, played and resumed.

A sweep is a matrix of *cells*; a cell is one evaluation, as one ``FlowTask`` of the spec.
``axes`` makes specs of this project's axes, ``plan`` says what they cost, ``local`` plays them
with Flow on this machine, and ``driver`` with ``ray_pool`` spreads them over a Ray cluster.
Whatever plays a cell, its log comes to the same folder (``folder``), once.
"""
