"""Episodes: variants staged as conversations, before any model or framework sees them."""
