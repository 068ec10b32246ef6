"""The commands of the memory wing."""
