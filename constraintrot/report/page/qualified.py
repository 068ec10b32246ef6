"""Qualification on the page: the families of the claims, beside each claim and in a table."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from constraintrot.report.page.source import Source
from constraintrot.report.page.view import Row, Section, Table
from constraintrot.report.qualification import Qualification
from constraintrot.report.qualified import Level, claimable, read_all, sentence, usable

NAME = "qualification"
TITLE = "Who qualifies"
NOT_GIVEN = "qualification not given"
UNKNOWN = (
    "No qualification was given: that these models obey what they see, and act, is not shown, and"
    " claims are of all families. The command constraintrot qualify asks it."
)
USED = {True: "yes", False: "no"}


def applied(source: Source, paths: Sequence[Path], level: Level = "bounds") -> Source:
    """Restrict a report's source to the episodes that claims may use, and add the qualifications."""
    if not paths:
        return source
    given = read_all(paths)
    frame, lines = claimable(source.frame, paths, level)
    planned, _ = claimable(source.planned, paths, level)
    # A subject's sentence is already in the section.
    said = {sentence(one, level) for one in given}
    return dataclasses.replace(
        source,
        frame=frame,
        planned=planned,
        notices=[*(line for line in lines if line not in said), *source.notices],
        qualifications=tuple(given),
        qualified_by=level,
    )


def beside(source: Source, rows: pd.DataFrame) -> str:
    """Return the note beside each claim about a subject: ``qualifies: 7 of 9 families``."""
    models, scaffolds = set(rows["model"]), set(rows["scaffold"])
    mine = [
        one for one in source.qualifications if one.agent in models and one.scaffold in scaffolds
    ]
    if not mine:
        return NOT_GIVEN
    taken = [usable(one, source.qualified_by) for one in mine]
    counted = [f"{len(used)} of {len(one.families)}" for used, one in zip(taken, mine, strict=True)]
    if len(mine) > 1:
        counted = [f"{count} ({one.scaffold})" for count, one in zip(counted, mine, strict=True)]
    alone = sum(family.verdict != "qualified" for used in taken for family in used)
    return f"qualifies: {', '.join(counted)} families{f', {alone} by rates alone' if alone else ''}"


def section(source: Source) -> Section | None:
    """Return the section of qualifications, with each subject's families; None without any."""
    if not source.qualifications:
        return None
    return Section(
        NAME, TITLE, tuple(_table(one, source.qualified_by) for one in source.qualifications)
    )


def note(one: Qualification, level: Level) -> str:
    told = (
        f"Seeds {one.seeds[0]} to {one.seeds[-1]}, {100 * one.confidence:.0f} % intervals. A family"
        " qualifies where the subject violates without a policy, obeys one that it sees, and does what"
        " is allowed; claims are of those families alone."
    )
    if level == "observed":
        told += " Here also of families whose rates meet the criteria while n is too small to tell."
    return told


def _table(one: Qualification, level: Level) -> Table:
    used = {family.family for family in usable(one, level)}
    rows = [
        Row(
            (family.family,),
            (*(cell.rate for cell in family.cells), family.verdict, USED[family.family in used]),
        )
        for family in one.families
    ]
    return Table(
        f"{one.agent}, scaffold {one.scaffold}: families that claims are of",
        ("family",),
        (*map(str, one.criteria), "verdict", "in the claims"),
        tuple(rows),
        (note(one, level),),
    )
