"""The page: its sections in their order, made of what was read."""

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
# A forest of more than this is no figure any more; the table holds them all.
FOREST = 40


@dataclass(frozen=True)
class Page:
    """A report.

    Attributes:
        source: what it is made of.
        frame: prepared; its index is the position that cells point to.
        answers: to the three questions.
        figure: beside them.
        sections: in order.
        cells: every rate in them.
        others: every other estimate in them, and where it stands.
        compared: every paired comparison in them.
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
    """Ask everything of the episodes."""
    frame = design.prepared(source.frame)
    cells = Cells(frame)
    main, settings = design.main(frame)
    answers, figure, two = answer.answers(main)
    pairs = compared.main(main[~main["allowed"]])
    found: list[Section | None] = [
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
        source, frame, tuple(answers), figure, tuple(one for one in found if one is not None),
        tuple(cells.made), tuple(cells.kept), (*two, *pairs),
    )  # fmt: skip


def _arrow(one: Compared) -> str:
    """Both arms; what the second adds to the first, where it says just that."""
    return f"{one.a} → {one.b.replace(f'{one.a}, ', '+ ', 1)}"


def _paired(pairs: Sequence[Compared]) -> Section:
    several = len({one.agent for one in pairs}) > 1
    made = [
        (f"{one.agent}: {_arrow(one)}" if several else _arrow(one), one.found)
        for one in pairs
        if one.found is not None
    ]
    if not made:
        command = "inspect eval constraintrot/suite --model MODEL -T conditions=control,compaction"
        said = tuple(dict.fromkeys(f"{one.a} and {one.b}: {one.reason}." for one in pairs))
        return Section("forest", PAIRED, (Missing(PAIRED, command), *said))
    rows: list[Row] = []
    for one in pairs:
        found = one.found
        heads = (one.agent, _arrow(one))
        if found is None:
            rows.append(Row(heads, ("-", "unpaired", "-", "-", f"unpaired: {one.reason}")))
            continue
        adjusted = found.p_value if found.adjusted is None else found.adjusted
        changed = f"{found.only_b} more, {found.only_a} fewer"
        cells = (str(found.n), points(found.difference), changed, p_text(adjusted))
        word = {"b is lower": "fewer violations", "b is higher": "more violations"}
        rows.append(Row(heads, (*cells, word.get(found.verdict, found.verdict))))
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
