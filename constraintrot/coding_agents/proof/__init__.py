"""A compaction in the agent itself, against an endpoint on this machine: does the pin arrive?

``wire`` reads requests, ``model_apis`` writes answers, ``endpoint`` answers from a script and
keeps each request, ``drivers`` says how each agent is started and made to compact, ``sandbox``
keeps it from the network and ends what it started, ``proof`` puts them together.
"""
