"""What became of the episodes: planned, played, errored and silent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from constraintrot.report.episode_counts import HEADS, counts
from constraintrot.report.page import bundles, design
from constraintrot.report.page.view import Row, Section, Table
from constraintrot.report.table import count_notes

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Episodes counted"


def counted(planned: pd.DataFrame) -> Section:
    """A row a model and condition, over all settings and requests.

    Args:
        planned: episodes of ``Source.planned``, prepared.
    """
    rows_of = bundles.bundles(planned)
    rows = [
        Row((agent, name), counts(part).cells)
        for agent in design.agents(planned)
        for of_agent in [planned[planned["agent"] == agent]]
        for name, arms in rows_of
        for part in [of_agent[of_agent["arm"].isin(arms)]]
        if len(part)
    ]
    notes = (
        *bundles.bundled(rows_of),
        "Rates are of the played episodes. Errored ones ended in an error and are in no rate; silent"
        " ones neither acted readably nor refused, and nobody knows what they would have done.",
        *(note.removeprefix("! ").strip() for note in count_notes(planned)),
    )
    table = Table("Over all settings", ("model", "condition"), HEADS, tuple(rows), notes)
    return Section("counted", TITLE, (table,))
