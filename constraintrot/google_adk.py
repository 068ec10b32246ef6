"""Google's ADK: a registry's pins as a plugin of the app."""

from constraintrot.extras import needing

with needing("constraintrot.google_adk", "google-adk"):
    from constraintrot.harnesses.google_adk.pins import PinPlugin

__all__ = ["PinPlugin"]
