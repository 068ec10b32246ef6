"""The sweeps that come with the package, each an Inspect Flow spec of its own (``flow check FILE``)."""
