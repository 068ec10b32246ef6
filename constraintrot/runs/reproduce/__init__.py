"""The paper's claims tested on any model: planned, registered, qualified, played and reported.

``registration`` is the plan that is written before anything is played, ``planning`` computes it,
``cells`` has the cells of each claim, ``play`` plays it look by look, and ``page`` reports it.
"""
