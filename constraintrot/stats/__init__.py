"""Statistics of a report; all modules take plain arrays. ``report.arms`` applies them to frames.

Every estimate is an ``interval.Interval``, or an ``interval.NoInterval`` with the
reason why there is none. Which method a cell's interval has was chosen by simulated
coverage (``results/tools/coverage.py``); see ``rate.rate`` and ``paired.compare``.
"""
