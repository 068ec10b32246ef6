"""The rules that an agent's own sessions lost: when, and whether it broke them afterwards.

Read in this order: ``rules`` (the rules to look for), ``context`` (the model's context
before and after a compaction), ``verdicts`` (the outcome for each rule), ``output``. The
package ``constraintrot.coding_agents.sessions`` reads the sessions.
"""
