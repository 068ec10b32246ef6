"""Scenarios: one YAML file per family and locale, and the variants that seeds draw from them."""
