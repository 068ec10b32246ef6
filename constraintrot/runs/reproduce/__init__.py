"""The paper's claims asked of any model: planned, registered, qualified, played, and told on a page.

``registration`` is the plan as it is written before anything is played, ``planning`` computes it,
``cells`` says what is played for a claim, ``play`` plays it look by look, and ``page`` tells it.
"""
