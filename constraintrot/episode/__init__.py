"""Episodes: a variant staged as a conversation that no model or framework has seen yet."""
