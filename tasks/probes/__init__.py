"""RAMPART's own probes (sections 3 and 4 of the paper), each an Inspect task.

They measure what the registry's primitives do to one prompt: no history, no
compaction. ``docs/rampart-probes.md`` says what each shows and costs.
"""
