"""A compaction in the agent itself, against an endpoint on this machine: does the pin arrive?

``stage`` copies the user's settings, ``drivers`` starts each agent and makes it compact,
``script`` answers and keeps each request, ``proof`` puts them together.
"""
