"""The report of runs: one self-contained HTML page, Markdown, a frame and ``summary.json``.

``source`` reads logs and frames, ``design`` groups the episodes, ``sections`` computes
the statistics with ``constraintrot.stats``, and ``html``, ``markdown`` and ``summary``
render them. ``write.report`` runs all steps.
"""
