"""The rules that an agent's own sessions lost: when, and whether it broke them afterwards.

Read in this order: ``events`` (what a session is made of), ``readers`` (one file a
format), ``rules`` (what is looked for), ``context`` (what the model had before and
after a compaction), ``verdicts`` (what became of each rule), ``output``.
"""
