"""Several reproductions side by side: their verdicts, and p-values over all of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from constraintrot.documents import json_data, read_text
from constraintrot.episode.facts import KEYS
from constraintrot.errors import ConstraintRotError
from constraintrot.report.claims import html
from constraintrot.report.page.markdown import inert
from constraintrot.report.page.view import p_text
from constraintrot.report.tables import Table
from constraintrot.runs.reproduce import kept
from constraintrot.runs.reproduce.page import NAMES
from constraintrot.stats.exact import holm, p_digits

BESIDE = ("side-by-side.md", "side-by-side.html")
_TITLE = "The paper's claims, model by model"
_NOTE = (
    "Verdicts of separate reproductions, each with a family of claims of its own. That one model is"
    " told and another is not is no difference between them. p-values are adjusted over the claims of"
    " one reproduction."
)
_DECIDED = ("reproduction", "verdict", "p", "over all", "by families", "registration")
_PLAYED = ("registration", "episodes", "of these in another too")


class _Tested(NamedTuple):
    title: str
    verdict: str
    p_value: float
    adjusted: float
    families: str


class _Page(NamedTuple):
    head: str
    tested: list[_Tested]
    verdicts: dict[str, str]
    digest: str


def side_by_side(folders: Sequence[Path]) -> str:
    """Write the verdicts of several pages beside each other, into the first folder.

    Below them are the decided claims with three p-values (adjusted over the claims of their
    reproduction, over those of all, and with families as the unit), and the numbers of episodes
    that reproductions share.
    """
    pages: list[_Page] = []
    for folder in folders:
        path = folder / NAMES[2]
        if not path.is_file():
            raise ConstraintRotError(
                f"{path} is not there; `constraintrot reproduce page {folder}`"
            )
        pages.append(_read(path))
    told = Counter(page.head for page in pages)
    # A model may have reproductions under several settings.
    heads = [
        page.head if told[page.head] == 1 else f"{page.head} ({_cell(folder.name)})"
        for page, folder in zip(pages, folders, strict=True)
    ]
    titles = dict.fromkeys(title for page in pages for title in page.verdicts)
    rows = [[title, *(page.verdicts.get(title, "not asked") for page in pages)] for title in titles]
    over, decided = _decided(pages, heads)
    played = _played(folders, pages, heads)
    common = _common(played)
    lines = [
        f"# {_TITLE}", "", _NOTE, "", Table(("claim", *heads), rows).markdown(), "",
        "## The decided claims", "", over, "", Table(("claim", *_DECIDED), decided).markdown(), "",
        "## What was played", "", common, "",
        Table(("reproduction", *_PLAYED), played).markdown(), "",
    ]  # fmt: skip
    made = {
        BESIDE[0]: inert("\n".join(lines)),
        BESIDE[1]: html.rendered(
            _TITLE,
            [_NOTE],
            [
                ("", ("claim", *heads), _rows(rows)),
                (over, ("claim", *_DECIDED), _rows(decided)),
                (common, ("reproduction", *_PLAYED), _rows(played)),
            ],
        ),
    }
    for name, text in made.items():
        kept.replace(folders[0] / name, text)
    return str(folders[0] / BESIDE[1])


def _rows(table: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    return [{"title": row[0], "link": "", "cells": list(row[1:])} for row in table]


def _decided(pages: Sequence[_Page], heads: Sequence[str]) -> tuple[str, list[list[str]]]:
    tested = [
        (claim, head, page.digest)
        for page, head in zip(pages, heads, strict=True)
        for claim in page.tested
    ]
    over_all = holm([claim.p_value for claim, _, _ in tested])
    rows = [
        [claim.title, head, claim.verdict, _p(claim.adjusted), _p(p_value), claim.families, digest]
        for (claim, head, digest), p_value in zip(tested, over_all, strict=True)
        if claim.verdict in ("same", "opposite")
    ]
    told = (
        'p is adjusted (Holm) over the claims of the reproduction, and "over all" over the'
        f' {len(tested)} claims of all of them. "By families" takes a family of policies as one'
        " observation, and is not adjusted."
    )
    return told, rows


def _tested(claim: dict[str, Any]) -> _Tested:
    families = "-"
    if found := claim.get("by_family"):
        families = f"{_p(float(found['p_value']))} ({int(found['families'])})"
    return _Tested(
        _cell(claim["title"]), _cell(claim["verdict"]), float(claim["p_value"]),
        float(claim["adjusted"]), families,
    )  # fmt: skip


def _played(
    folders: Sequence[Path], pages: Sequence[_Page], heads: Sequence[str]
) -> list[list[str]]:
    frames = {
        at: kept.episodes(folder)
        for at, folder in enumerate(folders)
        if kept.has_logs(folder) or (folder / kept.EPISODES).is_file()
    }
    shared = _shared(frames)
    return [
        [head, page.digest, *((str(len(frames[at])), str(shared[at])) if at in frames else "--")]
        for at, (head, page) in enumerate(zip(heads, pages, strict=True))
    ]


def _shared(frames: Mapping[int, pd.DataFrame]) -> Mapping[int, int]:
    names = [name for name in KEYS if all(name in frame for frame in frames.values())]
    keys = {at: frame[names].astype(str).drop_duplicates() for at, frame in frames.items()}
    every = pd.concat(keys) if keys else pd.DataFrame()
    again = every[every.duplicated(keep=False)]
    return Counter(int(at) for at, _ in again.index)


def _common(played: Sequence[Sequence[str]]) -> str:
    if all(row[-1] in ("0", "-") for row in played):
        return "No two of these reproductions have an episode in common."
    return (
        'An episode "in another too" has the same request under the same settings. A deterministic'
        " agent does there what it did before, so whoever registered later could know its outcome."
    )


def _read(path: Path) -> _Page:
    text = read_text(path, kept.MOST_BYTES, ConstraintRotError)
    data: Any = json_data(text, str(path), ConstraintRotError)
    try:
        claims = list(data["claims"])
        told = {_cell(claim["title"]): _cell(_told(claim)) for claim in claims}
        head = _cell(f"{data['model']}, {data['preset']}")
        tested = [_tested(claim) for claim in claims if claim.get("p_value") is not None]
        return _Page(head, tested, told, _cell(data["registration"][:16]))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ConstraintRotError(
            f"{path} is no page of a reproduction; `constraintrot reproduce page {path.parent}`"
            " writes it again"
        ) from error


def _cell(text: object) -> str:
    return str(text).replace("|", "¦")


def _told(claim: dict[str, Any]) -> str:
    why = ", ".join(dict.fromkeys(str(one["reason"]) for one in claim["reasons"]))
    if why:
        return f"{claim['verdict']} ({why})"
    return f"{claim['verdict']}, p = {p_digits(claim['adjusted'])}"


def _p(value: float) -> str:
    return p_text(value).removeprefix("p ").removeprefix("= ")
