"""The page: all its sections, in order, computed from the source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from constraintrot.report.page import (
    answer,
    attacked,
    compared,
    costs,
    counted,
    defended,
    design,
    headline,
    survived,
    sweep,
)
from constraintrot.report.page.figure import forest
from constraintrot.report.page.view import (
    Answer,
    Block,
    Cell,
    Cells,
    Compared,
    Figure,
    Missing,
    Row,
    Section,
    Table,
    p_text,
    points,
)
from constraintrot.stats.interval import Estimate

if TYPE_CHECKING:
    import pandas as pd

    from constraintrot.report.page.source import Source

PAIRED = "Paired differences"
# Most comparisons in the forest plot; the table has them all.
FOREST = 40


@dataclass(frozen=True)
class Page:
    """A report.

    Attributes:
        source: the logs and frames that were read.
        frame: episodes from ``design.prepared``; cells refer to its index.
        answers: the answers to the three questions.
        figure: the figure next to them.
        sections: the sections, in order.
        cells: every rate in the sections.
        others: every other estimate in the sections, with its section, row and column.
        compared: every paired comparison in the sections.
    """

    source: Source
    frame: pd.DataFrame
    answers: tuple[Answer, ...]
    figure: Figure | None
    sections: tuple[Section, ...]
    cells: tuple[Cell, ...]
    others: tuple[tuple[tuple[str, ...], Estimate], ...]
    compared: tuple[Compared, ...]


def page(source: Source) -> Page:
    """Compute all sections of the report."""
    frame = design.prepared(source.frame)
    cells = Cells(frame)
    main, settings = design.main(frame)
    answers, figure, two = answer.answers(main)
    pairs = compared.main(main[~main["allowed"]])
    sections: list[Section | None] = [
        headline.headline(cells, main, settings),
        counted.counted(design.prepared(source.planned)),
        headline.tasks(cells, main),
        headline.summarizers(cells, frame),
        attacked.attacks(cells, frame),
        *(sweep.swept(cells, frame, of) for of in sweep.VARIED),
        defended.defenses(cells, main, frame),
        sweep.budget(cells, frame),
        _paired(pairs),
        survived.survival(cells, main),
        survived.rounds(cells, frame),
        costs.cost(frame),
        sweep.others(cells, frame),
    ]
    return Page(
        source, frame, tuple(answers), figure, tuple(one for one in sections if one is not None),
        tuple(cells.made), tuple(cells.kept), (*two, *pairs),
    )  # fmt: skip


def _arrow(one: Compared) -> str:
    """Both arms as text; of a second arm that extends the first's name, only the addition."""
    return f"{one.a} → {one.b.replace(f'{one.a}, ', '+ ', 1)}"


def _paired(pairs: Sequence[Compared]) -> Section:
    several = len({one.agent for one in pairs}) > 1
    made = [
        (f"{one.agent}: {_arrow(one)}" if several else _arrow(one), one.comparison)
        for one in pairs
        if one.comparison is not None
    ]
    if not made:
        command = "inspect eval constraintrot/suite --model MODEL -T conditions=control,compaction"
        reasons = tuple(dict.fromkeys(f"{one.a} and {one.b}: {one.reason}." for one in pairs))
        return Section("forest", PAIRED, (Missing(PAIRED, command), *reasons))
    rows: list[Row] = []
    for one in pairs:
        comparison = one.comparison
        heads = (one.agent, _arrow(one))
        if comparison is None:
            rows.append(Row(heads, ("-", "unpaired", "-", "-", f"unpaired: {one.reason}")))
            continue
        adjusted = comparison.p_value if comparison.adjusted is None else comparison.adjusted
        changed = f"{comparison.only_b} more, {comparison.only_a} fewer"
        cells = (str(comparison.n), points(comparison.difference), changed, p_text(adjusted))
        word = {"b is lower": "fewer violations", "b is higher": "more violations"}
        rows.append(Row(heads, (*cells, word.get(comparison.verdict, comparison.verdict))))
    notes = (
        "The same variants, seeds and replicates in both arms. p-values are exact (McNemar, or sign"
        " flips of whole variants where there are replicates) and adjusted over this table (Holm).",
        "The first two answers are a family of their own, of two comparisons over all models, and may"
        " tell apart what this longer table does not.",
    )
    columns = ("pairs", "difference", "pairs that changed", "adjusted", "in words")
    table = Table("Second arm less first", ("model", "arms"), columns, tuple(rows), notes)
    blocks: list[Block] = [forest(made[:FOREST], "Violation, second arm less first")]
    return Section("forest", PAIRED, (*blocks, table))
