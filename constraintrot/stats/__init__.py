"""Statistics of a report; all modules take plain arrays. ``report.arms`` applies them to frames.

Every estimate is an ``interval.Interval``, or an ``interval.NoInterval`` with the
reason why there is none. Which method a cell's interval has was chosen by simulated
coverage (``results/tools/coverage.py``); see ``rate.rate`` and ``paired.compare``.

In all of them ``labels`` names the cluster of each episode (None: each is its own), ``confidence``
is the nominal coverage, and ``seed`` is the bootstrap's. Functions of ``hits`` and ``sizes`` take
the outcomes 1 and the episodes of each cluster, shape (..., clusters), and return shape (...).
"""
