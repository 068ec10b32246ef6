"""Constraint Pinning for other frameworks: the smallest hook of each, over one registry.

No module here needs Inspect, and each imports its own framework only.

===================  =====================================================
module               what it gives
===================  =====================================================
``langgraph``        ``pin_node``, ``pinned``: also behind LangMem's node
``langchain_model``  ``pinned_model``: a chat model that sends the pins
``langchain``        ``PinMiddleware``, for ``create_agent``
``deepagents``       the same, and ``pinned_subagents``
``autogen``          ``PinnedContext``, ``PinnedClient``: around a context, a client
``openai_agents``    ``pin_filter``: of a run; ``pinned_model``: of an agent
``agent_framework``  ``pinned_client``: a chat client that sends the pins
``google_adk``       ``PinPlugin``, for an ``App``
``litellm``          ``PinGuardrail``, for a proxy and whoever calls through it
===================  =====================================================

For Inspect itself there is ``constraintrot.defenses.pinning``.
"""
