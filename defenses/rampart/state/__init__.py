"""What a registry holds: its blocks, who may change them, and the log of every change."""
