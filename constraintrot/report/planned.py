"""All planned episodes of logs, including those without a verdict, as a frame for decisions.

An episode that ended in an error, or that was never begun because its run was stopped, has no
verdict. The reason may be related to the missing outcome, so a decision must count it as
unknown instead of leaving it out.
"""

from collections.abc import Iterable
from math import nan
from pathlib import Path

import pandas as pd

from constraintrot.episode.facts import KEYS
from constraintrot.grading.outcome_status import MISSING
from constraintrot.report import frame, stored
from constraintrot.report.episode_counts import fill_facts, is_played

PLANNED = "planned"
"""A column that marks a frame with a row for every planned episode."""


def planned_episodes(logs: Iterable[str | Path]) -> pd.DataFrame:
    """Read all planned episodes of logs.

    Returns:
        The frame of ``report.frame.planned_episodes``. An episode without a verdict has the
        outcome ``MISSING`` and a violation of nan; it is dropped if another log finished it.
        The column ``planned`` is true.
    """
    given = [str(log) for log in logs]
    if found := stored.stores(given):
        return stored.planned(found).assign(**{PLANNED: True})
    episodes = frame.planned_episodes(given).assign(**{PLANNED: True})
    lost = ~is_played(episodes)
    episodes.loc[lost, "outcome"] = MISSING
    episodes.loc[lost, "violation"] = nan
    fill_facts(episodes, lost.to_numpy())
    keys = [key for key in KEYS if key in episodes]
    again = episodes.astype({key: str for key in keys}).duplicated(keys) & lost
    return episodes[~again].reset_index(drop=True)
