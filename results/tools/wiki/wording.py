"""Consequence against reminder wording: the writes that a maintainer defers under each.

The same sources under each wording of the schema, so that every comparison is paired. Each
answer is written as it comes, and a run that was stopped goes on with the same command.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from inspect_ai.model import get_model

from constraintrot.memory.wiki import STEPS, Source, schema
from constraintrot.memory.wiki import channel as wiki_channel
from constraintrot.memory.wiki.schema import WORDINGS
from constraintrot.scenario.files import load
from constraintrot.stats.exact import fair_sign_test
from results.tools.wiki.maintainer import MODELS, maintained
from results.tools.wiki.reach import FAMILIES

SCRIPTED = tuple(f"scripted/{name}" for name in MODELS)
FIELDS = ("model", "wording", "source", "left", "fault")
ANY = "any"


@dataclass(frozen=True)
class Contrast:
    """Two wordings on the same sources.

    Attributes:
        model: the maintainer.
        step: which write, or ``any``.
        n: sources that both were asked about.
        reminder: how many it left under reminder wording.
        consequence: the same under consequence wording.
        p_value: of the sign test on the sources where they differ.
    """

    model: str
    step: str
    n: int
    reminder: int
    consequence: int
    p_value: float


def sources(number: int) -> Iterator[Source]:
    """Return work of all families, in turn."""
    variants = [load(family, "en").variant(0) for family in FAMILIES]
    each = -(-number // len(variants))
    work = [list(wiki_channel.other_work(variant, each)) for variant in variants]
    return (work[at % len(work)][at // len(work)] for at in range(number))


async def measure(model: str, number: int, path: Path) -> None:
    """Ask a maintainer about a number of sources under each wording, and store each answer."""
    known = {(row["model"], row["wording"], row["source"]) for row in read(path)}
    fresh = not path.is_file()
    maintainer = get_model(model)
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if fresh:
            writer.writeheader()
        elif not path.read_bytes().endswith(b"\n"):
            # A kill tore the last line, which is asked again.
            file.write("\n")
        for at, source in enumerate(sources(number)):
            for wording in WORDINGS:
                if (model, wording, str(at)) in known:
                    continue
                text = schema.render(wording=wording)
                done, fault = await maintained(maintainer, text, source)
                left = " ".join(step for step in STEPS if step not in done)
                row = {"model": model, "wording": wording, "source": at, "left": left}
                writer.writerow(row | {"fault": fault})
                file.flush()


def read(path: Path) -> list[dict[str, str]]:
    """Read the answers so far, except a last line that was cut off."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row.get("fault") is not None]


def contrasts(answers: Sequence[Mapping[str, str]]) -> Iterator[Contrast]:
    """Yield reminder against consequence for each maintainer, for any write and for each write.

    Answers that could not be read are no deferral; their sources are left out of both.
    """
    for model in dict.fromkeys(row["model"] for row in answers):
        left = {
            (row["wording"], row["source"]): row["left"].split()
            for row in answers
            if row["model"] == model and not row["fault"]
        }
        paired = [
            (left["reminder", source], left["consequence", source])
            for wording, source in left
            if wording == "reminder" and ("consequence", source) in left
        ]
        for step in (ANY, *STEPS):
            pairs = [
                (bool(a) if step == ANY else step in a, bool(b) if step == ANY else step in b)
                for a, b in paired
            ]
            more = sum(a and not b for a, b in pairs)
            fewer = sum(b and not a for a, b in pairs)
            p_value = fair_sign_test(min(more, fewer), more + fewer)
            yield Contrast(
                model, step, len(pairs), sum(a for a, _ in pairs), sum(b for _, b in pairs), p_value
            )
