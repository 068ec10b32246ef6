"""The probes of the RAMPART paper (sections 3 and 4), each an Inspect task.

They measure the effect of the registry's primitives on one prompt, without history and
compaction. ``docs/rampart-probes.md`` describes the result and the cost of each.
"""
