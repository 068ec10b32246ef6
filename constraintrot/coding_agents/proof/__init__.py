"""A compaction in the agent itself, against an endpoint on this machine: does the pin arrive?

``stage`` copies the user's settings, ``drivers`` says how each agent is started and made to
compact, ``script`` answers and keeps each request, ``trust`` asks Codex which hooks it runs,
``proof`` puts them together.
"""
