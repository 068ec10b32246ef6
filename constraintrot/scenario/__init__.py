"""Scenarios: one YAML file a family and locale, and the variants that seeds make of them."""
