"""From the state of a registry to a prompt within a budget."""
