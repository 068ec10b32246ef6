"""Constraint Pinning for other frameworks: the smallest hook of each, over one registry.

No module here needs Inspect, and each imports its own framework only.

===================  =====================================================
module               what it gives
===================  =====================================================
``langgraph``        ``pin_node``, ``pinned``: also behind LangMem's node
``langchain``        ``PinMiddleware``, for ``create_agent``
``deepagents``       the same, and ``pinned_subagents``
``autogen``          ``PinnedContext``: around a model context
``openai_agents``    ``pin_filter``: a ``call_model_input_filter``
``agent_framework``  ``PinnedStrategy``: around a compaction strategy
``google_adk``       ``PinPlugin``, for an ``App``
``litellm``          ``PinGuardrail``, for a proxy and whoever calls through it
===================  =====================================================

For Inspect itself there is ``constraintrot.defenses.pinning``.
"""
