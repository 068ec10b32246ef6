"""Episodes: a variant staged as a conversation, before any model or framework sees it."""
