"""Constraint Pinning for other frameworks: the smallest hook of each, over one registry.

No module here needs Inspect, and each imports its own framework only.

=================  =====================================================
module             what it gives
=================  =====================================================
``langgraph``      ``pin_node``, ``pinned``: a node before the model's
=================  =====================================================
"""
