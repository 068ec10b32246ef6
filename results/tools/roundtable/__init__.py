"""The roundtable of the RAMPART paper (section 4, Table 5), which made a table of results/probes.md."""
