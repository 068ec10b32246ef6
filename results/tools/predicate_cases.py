"""How often the predicates say what the policy's text says: ``python -m results.tools.predicate_cases``.

The cases are under ``tests/grading/cases``, each judged twice before any predicate
was run on it. A predicate is wrong on a case where both judgements agree and it
says something else:

- missed: the policy is violated, and it says clear or unknown;
- false: it says violated where the policy is not;
- open: it decides what the calls do not say, or does not decide what they do.

A quarter of the first cases, told by a checksum of their ids, was held out: its
errors were counted when the predicates had been mended by the others. A later batch
was written after that, and judged before it was run. ``before`` (the predicates as
they were), ``held out`` and ``later`` are what was recorded at the first run of each
(``recorded.csv``); ``now`` is what this run finds.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias
from zlib import crc32

import yaml

from constraintrot.grading.verdict import grade
from constraintrot.scenario.files import load
from constraintrot.scenario.schema import Variant

Judgement: TypeAlias = Literal["violates", "clear", "unknown"]

FOLDER = Path(__file__).parents[2] / "tests" / "grading" / "cases"
RECORDED = FOLDER / "recorded.csv"
_FOUND: dict[str, Judgement] = {
    "violated": "violates",
    "complied": "clear",
    "declined": "clear",
}


@dataclass(frozen=True)
class Case:
    """An answer, and what the policy's text says of it.

    Attributes:
        id: short name of the family, locale and number.
        family: the scenario.
        locale: of the scenario.
        kind: plain, what a model may write first, or exotic.
        batch: first, later (written after the predicates were mended), or german (after that).
        calls: the calls of the answer.
        judge_a: the first judgement.
        judge_b: the second.
        why: the reasons, where they are not obvious.
    """

    id: str
    family: str
    locale: str
    kind: str
    calls: Sequence[Mapping[str, Any]]
    judge_a: Judgement
    judge_b: Judgement
    why: str
    batch: str = "first"

    @property
    def agreed(self) -> bool:
        """Whether both judgements are the same."""
        return self.judge_a == self.judge_b

    @property
    def held_out(self) -> bool:
        """Whether the predicates were first mended without a look at this case."""
        return self.batch == "first" and crc32(self.id.encode()) % 4 == 0


def cases() -> Iterator[Case]:
    """All cases, family by family."""
    for path in sorted(FOLDER.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            read = json.loads(line)
            why = [read.pop(name) for name in ("why_a", "why_b") if name in read]
            yield Case(family=path.stem, why="; ".join(why), **read)


@cache
def variant(family: str, locale: str) -> Variant:
    """The scenario with the values that the cases were judged with."""
    values = yaml.safe_load((FOLDER / "values.yaml").read_text(encoding="utf-8"))
    pools = {"judged": [values[family][locale]]}
    return load(family, locale).model_copy(update={"pools": pools}).variant(0)


def found(case: Case) -> Judgement:
    """What the grader says of a case."""
    outcome = grade(variant(case.family, case.locale), case.calls).outcome
    return _FOUND.get(outcome, "unknown")


def error(case: Case, said: Judgement) -> str:
    """``missed``, ``false`` or ``open``; nothing where the grader agrees with the judgements."""
    if not case.agreed or said == case.judge_a:
        return ""
    if case.judge_a == "violates":
        return "missed"
    return "false" if said == "violates" else "open"


def recorded() -> dict[str, dict[str, Judgement]]:
    """What earlier runs found, by the run's name and the case's id."""
    runs: dict[str, dict[str, Judgement]] = {}
    with RECORDED.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            for run, said in row.items():
                if run != "id" and said in ("violates", "clear", "unknown"):
                    runs.setdefault(run, {})[row["id"]] = said  # type: ignore[assignment]  # just tested
    return runs


def record(run: str, now: Mapping[str, Judgement]) -> None:
    """Write down what this run found, under a name; what is written already stays."""
    runs = recorded() if RECORDED.exists() else {}
    runs[run] = {**now, **runs.get(run, {})}
    with RECORDED.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", *runs])
        for name in now:
            writer.writerow([name, *(said.get(name, "") for said in runs.values())])


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table and what is behind it."""
    parser = argparse.ArgumentParser(description="The predicates against the judged cases.")
    parser.add_argument("--record", metavar="RUN", help="write what is found to recorded.csv")
    parser.add_argument("--errors", choices=["shown", "held-out"], help="list errors only")
    given = parser.parse_args(arguments)
    every = list(cases())
    now = {case.id: found(case) for case in every}
    if given.record:
        record(given.record, now)
    if given.errors:
        wanted = given.errors == "held-out"
        every = [case for case in every if case.held_out == wanted]
        print("\n".join(_errors(every, now)))
    else:
        sys.stdout.write(page(every, now, recorded()))


_HEAD = """\
# The predicates against the policies' text

Made by `python -m results.tools.predicate_cases > results/predicates.md`; the cases and how they were judged: [tests/grading/cases](../tests/grading/cases/README.md).

Error rates are over the cases on which both judgements agree. In brackets: missed violations + false ones + open (decided where the calls do not say, or left open where they do). `before`: the predicates as they were when the cases were written. `held out`: a quarter of the first 986 cases, when the rest had been used for mending. `later`: 160 cases written after that, at their first run. `german`: 127 cases in German, written when the suite got that language, at their first run. `now`: all cases, by the code that made this page.

The `now` column is no estimate of what the predicates do on calls that nobody has seen, for they were mended on these cases; `later` comes nearest to one. Even that is read and judged by the author of the predicates.

"""


def page(
    every: Sequence[Case],
    now: Mapping[str, Judgement],
    runs: Mapping[str, Mapping[str, Judgement]],
) -> str:
    """The table of all families, the disagreements and the errors that are left."""
    lines = [
        *_HEAD.splitlines(),
        "| family | cases | locales | judgements agree | before | held out | later | german | now |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    families = list(dict.fromkeys(case.family for case in every))
    for family in [*families, "all"]:
        of = [case for case in every if family in (case.family, "all")]
        same = sum(case.agreed for case in of)
        out = [case for case in of if case.held_out]
        later = [case for case in of if case.batch == "later"]
        locales = ", ".join(dict.fromkeys(case.locale for case in of))
        lines.append(
            f"| {family} | {len(of)} | {locales} | {same} ({same / len(of):.0%}) |"
            f" {_rate(of, runs.get('before'))} | {_rate(out, runs.get('held_out'))} |"
            f" {_rate(later, runs.get('later'))} | {_rate(of, runs.get('german'))} |"
            f" {_rate(of, now)} |"
        )
    lines += ["", "## Where the two judgements differ", ""]
    lines += ["| case | first | second | grader | calls | why |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {case.id} | {case.judge_a} | {case.judge_b} | {now[case.id]} | {_brief(case)} |"
        f" {_cell(case.why)} |"
        for case in every
        if not case.agreed
    ]
    lines += ["", "## What the grader still gets wrong", ""]
    return "\n".join([*lines, *(_errors(every, now) or ["Nothing among these cases."]), ""])


def _rate(of: Iterable[Case], said: Mapping[str, Judgement] | None) -> str:
    agreed = [case for case in of if case.agreed and case.id in (said or {})]
    if not said or not agreed:
        return "-"
    errors = [error(case, said[case.id]) for case in agreed]
    parts = " + ".join(str(errors.count(name)) for name in ("missed", "false", "open"))
    wrong = len(errors) - errors.count("")
    return f"{wrong / len(agreed):.1%} ({parts} of {len(agreed)})"


def _errors(every: Iterable[Case], now: Mapping[str, Judgement]) -> list[str]:
    rows = [
        f"| {case.id} | {kind} | {case.judge_a} | {now[case.id]} | {_brief(case)} |"
        for case in every
        if (kind := error(case, now[case.id]))
    ]
    head = ["| case | error | judged | grader | calls |", "|---|---|---|---|---|"]
    return [*head, *rows] if rows else []


def _brief(case: Case) -> str:
    calls = (
        f"{call['function']}({json.dumps(call['arguments'], ensure_ascii=False)})"
        for call in case.calls
    )
    return f"`{_cell('; '.join(calls))[:300]}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("`", "'").replace("\n", " ")


if __name__ == "__main__":
    main()
