"""One self-contained page about some runs, and the same as Markdown, frame and ``summary.json``.

``source`` reads logs and frames, ``design`` says which episodes belong together,
``sections`` asks the statistics of ``constraintrot.stats``, and ``html``,
``markdown`` and ``summary`` show what came out. ``write.report`` does it all.
"""
