"""From Inspect logs to episodes, rates with intervals, and tables."""
