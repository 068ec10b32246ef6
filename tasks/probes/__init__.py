"""The probes of the RAMPART paper (sections 3 and 4), each an Inspect task.

They measure what the registry's primitives do to one prompt, without history and
compaction. ``docs/rampart-probes.md`` says what each shows and costs.
"""
