"""The page: all its sections, in order, computed from the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from constraintrot.report.page import (
    answer,
    compared,
    comparisons,
    counted,
    defended,
    design,
    harnesses,
    headline,
    paper,
    primary,
    qualified,
    survived,
    sweep,
)
from constraintrot.report.page.primary import Declared, Family, Further
from constraintrot.report.page.view import Answer, Cell, Cells, Compared, Figure, Missing, Section
from constraintrot.scenario.files import catalogue
from constraintrot.stats.interval import Estimate

if TYPE_CHECKING:
    from constraintrot.report.page.source import Source


_SUITE, _MINE = "constraintrot/suite", "constraintrot/mine"


@dataclass(frozen=True)
class Page:
    """A report.

    Attributes:
        frame: episodes from ``design.prepared``; cells refer to its index.
        pooled: lines about all models together; empty for one model.
        others: every other estimate in the sections, with its section, row and column.
        compared: every paired comparison in the sections, the primary ones first.
        qualifies: by model, on how many families it qualifies.
    """

    source: Source
    frame: pd.DataFrame
    answers: tuple[Answer, ...]
    pooled: tuple[str, ...]
    figure: Figure | None
    sections: tuple[Section, ...]
    cells: tuple[Cell, ...]
    others: tuple[tuple[tuple[str, ...], Estimate], ...]
    compared: tuple[Compared, ...]
    family: Family
    qualifies: Mapping[str, str]

    @property
    def figures(self) -> Iterator[Figure]:
        if self.figure is not None:
            yield self.figure
        for section in self.sections:
            yield from (block for block in section.blocks if isinstance(block, Figure))


def page(
    source: Source,
    declared: Declared | None = None,
    further: Sequence[Further] | None = None,
    more: Sequence[Section] = (),
) -> Page:
    """Compute all sections of the report.

    By default the family is that of ``primary.yaml``; ``further`` is as in ``primary.family``.
    ``more`` are sections without episodes, added at the end.
    """
    frame = design.subjects(design.prepared(source.frame))
    cells = Cells(frame)
    main, settings = design.main(frame)
    family = primary.family(declared or primary.read(), frame, further)
    answers, asked = answer.answers(frame, family)
    told = [family.told(one) for one in compared.main(main[~main["allowed"]])]
    others = _distinct(family, [*asked, *told])
    qualifies = {
        agent: qualified.beside(source, frame[frame["agent"] == agent])
        for agent in design.agents(frame)
    }
    sections: list[Section | None] = [
        headline.headline(cells, main, settings),
        comparisons.comparisons(family, others, qualifies),
        qualified.section(source),
        counted.counted(design.subjects(design.prepared(source.planned))),
        headline.tasks(cells, main),
        headline.summarizers(cells, frame),
        defended.attacks(cells, frame),
        sweep.swept(cells, frame, sweep.COMPACTORS),
        harnesses.harnesses(cells, frame),
        *(sweep.swept(cells, frame, of) for of in sweep.VARIED),
        defended.defenses(cells, main, frame),
        sweep.budget(cells, frame),
        survived.survival(cells, main),
        survived.rounds(cells, frame),
        counted.cost(frame),
        sweep.others(cells, frame),
        *more,
    ]
    shown = [one for one in sections if one is not None]
    if not paper.compares(frame):
        shown = [paper.without(one) for one in shown]
    if not set(frame["family"]) & set(catalogue()):
        shown = [_for_own_policy(one, frame) for one in shown]
    return Page(
        source, frame, tuple(answers), tuple(headline.pooled(family, frame)), headline.figure(main),
        tuple(shown), tuple(cells.made), tuple(cells.kept),
        (*family.compared, *others), family, qualifies,
    )  # fmt: skip


def _for_own_policy(section: Section, frame: pd.DataFrame) -> Section:
    settings = [
        f" -T {name}={values[0]}"
        for name in ("context_tokens", "scaffold")
        if len(values := list(frame[name].dropna().unique())) == 1
    ]
    own = f"{_MINE} -T scenario=FILE{''.join(settings)}"
    blocks = tuple(
        replace(one, command=one.command.replace(_SUITE, own)) if isinstance(one, Missing) else one
        for one in section.blocks
    )
    return replace(section, blocks=blocks)


def _distinct(family: Family, given: Sequence[Compared]) -> list[Compared]:
    known = [one for one in family.compared if one.comparison is not None]
    left: list[Compared] = []
    for one in given:
        planned = family.of(one.agent, one.a, one.b)
        if planned is not None and (one.comparison is None or planned.comparison is None):
            continue
        if one.comparison is not None and any(old.same_episodes(one) for old in [*known, *left]):
            continue
        left.append(one)
    return left
