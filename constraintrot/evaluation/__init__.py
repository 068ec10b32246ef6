"""Inspect's side: task parameters, conditions, the solver, the scorers and their metrics."""
