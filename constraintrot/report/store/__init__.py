"""Results of many runs in one place: a folder or a bucket that any number of workers add to.

A store is a path or an fsspec URL (``results/sweep``, ``s3://bucket/sweep``). It grows by
*cells*: a cell is one run, the episodes of one Inspect log. A worker adds a cell when its
run has ended::

    from constraintrot.report.cells import commit

    commit("s3://bucket/sweep", log.location, cell="paper/qwen3-4b/inject_note/pin")

Layout::

    constraintrot-store.json                    marks a store; its version
    commits/CELL/TOKEN.json                     a commit; written last
    frames/task=TASK/agent=AGENT/TOKEN.parquet  the episodes, as ``report`` writes them
    logs/                                       Inspect's logs, if the runs write them here

Rules that make it safe with many writers and readers at once:

- Nothing is ever overwritten. Each commit has its own token, so writers never touch the same
  file and need no lock.
- The frame is written first, the commit after it. A reader takes only frames that a commit
  names, so it sees a cell whole or not at all; leftovers of a killed worker are never read.
- A cell that was committed several times (a retry, a worker that was thought dead) counts
  once: the commit with the most finished episodes, then the one whose run began last, then
  the larger token. The order of arrival does not matter, and a worker's clock never decides
  between a part and the whole.
"""

from constraintrot.report.store.commits import Commit, Store

__all__ = ["Commit", "Store"]
