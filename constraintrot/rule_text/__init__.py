"""The room that reads prose for rules."""
