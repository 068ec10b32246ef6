"""Statistics of a report: one module a noun, on plain arrays; ``frames`` takes episodes.

Every estimate is an ``interval.Interval``, or an ``interval.NoInterval`` that
says why there is none. Which interval a cell gets is what ``validate`` found to
hold, see ``rate.rate`` and ``paired.compare``.
"""
