"""AutoGen: a registry's pins around a model context or a model client."""

from constraintrot.extras import needing

with needing("constraintrot.autogen", "autogen"):
    from constraintrot.harnesses.autogen.pins import PinnedClient, PinnedContext

__all__ = ["PinnedClient", "PinnedContext"]
