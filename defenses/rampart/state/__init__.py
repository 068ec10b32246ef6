"""The state of a registry: its blocks, the rights to change them, and the log of changes."""
