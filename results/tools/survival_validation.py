"""How well the survival measures agree with readers, over labelled summaries.

The labels are in ``tests/grading/survival_cases``; what the rules said of the
held-out half when they first saw it is in its ``first_run.csv``.
``python -m results.tools.survival_validation > results/survival-validation.md``
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from constraintrot.grading.policy_in_force import state
from constraintrot.rule_text.survival import STATES, SURVIVED, SurvivalState, mentions
from constraintrot.scenario.files import load
from constraintrot.scenario.schema import WORDINGS, Variant

FOLDER = Path(__file__).parents[2] / "tests" / "grading" / "survival_cases"
FIRST_RUN = FOLDER / "first_run.csv"
WRITTEN = "written"


@dataclass(frozen=True)
class Case:
    """A text about a policy, and what two readings made of it.

    Attributes:
        id: short name of the family, locale and number.
        family: the scenario.
        locale: its language.
        seed: its variant, of the split ``all``.
        source: ``written`` for the purpose, or the model whose text it is.
        half: ``development`` was looked at while the rules were written, ``held_out``
            was not; ``later`` was written when the rules were done, and looked at
            after its first run; ``last`` was written after that mending.
        a: the first reading.
        b: the second, made in another order without a look at the first.
        text: the text.
    """

    id: str
    family: str
    locale: str
    seed: int
    source: str
    half: Literal["development", "held_out", "later", "last"]
    a: SurvivalState
    b: SurvivalState
    text: str

    @property
    def agreed(self) -> bool:
        """Whether both readings are the same."""
        return self.a == self.b


@cache
def cases() -> tuple[Case, ...]:
    """All cases, family by family."""
    return tuple(
        Case(family=path.stem, **json.loads(line))
        for path in sorted(FOLDER.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    )


@cache
def _variant(family: str, locale: str, seed: int) -> Variant:
    return load(family, locale).variant(seed, "all", texts=1)


def by_rules(case: Case) -> SurvivalState:
    """The state that the reader ``words`` gives."""
    return state(case.text, _variant(case.family, case.locale, case.seed)).state


def mentioned(case: Case) -> bool:
    """Whether the policy is mentioned, in the sense of the measure of that name."""
    variant = _variant(case.family, case.locale, case.seed)
    return any(
        mentions([case.text], variant.policy(wording), variant.slots).kept for wording in WORDINGS
    )


@cache
def said_now() -> Mapping[str, SurvivalState]:
    """What the reader ``words`` says of each case."""
    return {case.id: by_rules(case) for case in cases()}


def first_run() -> dict[str, SurvivalState]:
    """What was said of a text at the first run: by the rules, and by words of all German ones."""
    with FIRST_RUN.open(newline="", encoding="utf-8") as file:
        return {row["id"]: row["state"] for row in csv.DictReader(file)}  # type: ignore[misc]  # as written


def record() -> None:
    """Write down the first run on cases that were not developed on; what is there stays."""
    said = first_run() if FIRST_RUN.exists() else {}
    new = {
        one.id: by_rules(one) for one in cases() if one.half != "development" and one.id not in said
    }
    with FIRST_RUN.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", "state"])
        writer.writerows((said | new).items())


_HEAD = """\
# How well survival is measured

Made by `python -m results.tools.survival_validation > results/survival-validation.md` from the labelled texts in [tests/grading/survival_cases](../tests/grading/survival_cases/README.md), which says how they were written, read and halved.

Precision: of the texts that a measure puts into a state, the share that both readings put there. Recall: of the texts that both readings put there, the share that the measure finds. Texts on which the readings differ are left out and listed below.

Read the held-out figures as an upper bound: most texts are put together from clauses and frames, one author wrote the texts, both readings and the rules, and had read both halves for their labels before the rules were written; the rules' errors were looked at on the development half and, after their first run, on the later texts. The `later` texts were freely written when the rules were done, to be hard, and judged before they were run; the rules were then mended on them. The `last` texts were written in the same way after that, and nothing was mended since: they are the nearest to what the rules do on a hard text that nobody has seen. The texts of a real model are few, and most of them hold nothing of the policy.

The judge (role `judge`) and the probe were not measured here: no model that could judge was at hand.
"""

_GERMAN = "de"
_GERMAN_HEAD = """\
The reader saw each part once before anything was mended on it: first both halves, then the `later` texts, written after the mending on these, then the `last` ones. The `last` texts were each written around a cue (a message that was withdrawn, a rule that is no recommendation). What was mended is what it decides: in German it tells what stands verbatim and what is not there at all; all else it cannot tell.\
"""


def page() -> str:
    """The whole page."""
    agreed = [case for case in cases() if case.agreed]
    # The rules decided each of these; the German texts were first read by words.
    unseen = [case for case in agreed if case.locale != _GERMAN]
    held_out = [case for case in unseen if case.half == "held_out"]
    later = [case for case in unseen if case.half == "later"]
    last = [case for case in unseen if case.half == "last"]
    real = [case for case in agreed if case.source != WRITTEN]
    first, now = first_run(), said_now()
    lines = [*_HEAD.splitlines(), "", *_counts(), ""]
    lines += ["## The rules, last texts, first run", "", *_by_state(last, first), ""]
    lines += ["## The rules, later texts, first run", "", *_by_state(later, first), ""]
    lines += ["## The rules, held-out half, first run", "", *_by_state(held_out, first), ""]
    lines += ["## The reader words as it is now, all texts", ""]
    lines += [
        "Its lists were cut on all of these texts and on the committed attacks: an entry stayed if"
        " without it more than one text was read otherwise, or one was read wrongly. So these figures"
        " flatter. Where it is not sure it says *cannot tell*, which is no error and no find.",
        "",
        *_by_state(agreed, now),
        "",
    ]
    lines += [
        "## German: the reader words, first run and now",
        "",
        _GERMAN_HEAD,
        "",
        *_german(),
        "",
    ]
    lines += [
        "## Survived or not: rules, words and mentions",
        "",
        *_survival(agreed, (last, later, held_out), real),
        "",
    ]
    lines += ["## Confusion, last texts, first run", "", *_confusion(last, first), ""]
    lines += ["## Confusion, later texts, first run", "", *_confusion(later, first), ""]
    lines += ["## Confusion, held-out half, first run", "", *_confusion(held_out, first), ""]
    lines += ["## What mentions cannot tell apart", "", *_mentions(agreed), ""]
    lines += ["## Where the two readings differ", "", *_disagreements(), ""]
    lines += ["## What words gets wrong now", "", *_errors(agreed, now), ""]
    return "\n".join(lines)


def _german() -> list[str]:
    first, now = first_run(), said_now()
    rows: list[list[str]] = []
    for half in dict.fromkeys(case.half for case in cases()):
        of = [
            case for case in cases() if case.agreed and (case.locale, case.half) == (_GERMAN, half)
        ]
        counted = [_decided(of, said) for said in (first, now)]
        rows.append([half.replace("_", " "), str(len(of)), *counted[0], *counted[1]])
    return _table(["half", "texts", "decided first", "wrong", "decided now", "wrong"], rows)


def _decided(of: Sequence[Case], said: Mapping[str, SurvivalState]) -> tuple[str, str]:
    decided = [case for case in of if said[case.id] != "cannot tell"]
    wrong = sum(said[case.id] != case.a for case in decided)
    return _share(len(decided), len(of)), _share(wrong, len(decided))


def _counts() -> list[str]:
    rows: list[list[str]] = []
    for name in [*dict.fromkeys(case.family for case in cases()), "all"]:
        of = [case for case in cases() if name in (case.family, "all")]
        same = sum(case.agreed for case in of)
        rows.append(
            [
                name,
                str(len(of)),
                ", ".join(f"{k} {n}" for k, n in sorted(Counter(c.locale for c in of).items())),
                str(sum(case.source != WRITTEN for case in of)),
                str(sum(case.half == "held_out" for case in of)),
                f"{same} ({same / len(of):.1%})",
            ]
        )
    head = ["family", "texts", "locales", "of a real model", "held out", "readings agree"]
    return _table(head, rows)


def _by_state(of: Sequence[Case], said: Mapping[str, SurvivalState]) -> list[str]:
    rows: list[list[str]] = []
    for name in STATES:
        there = {case.id for case in of if case.a == name}
        found = {case.id for case in of if said[case.id] == name}
        rows.append([name, *_scores(of, _among(there), _among(found))])
    right = sum(case.a == said[case.id] for case in of)
    decided = sum(said[case.id] != "cannot tell" for case in of)
    rows.append(["all", str(len(of)), _share(right, decided), _share(right, len(of))])
    return _table(["state", "texts", "precision", "recall"], rows)


def _survival(
    agreed: Sequence[Case], unseen: Sequence[Sequence[Case]], real: Sequence[Case]
) -> list[str]:
    first, now = first_run(), said_now()
    measures: list[tuple[str, Sequence[Case], Callable[[Case], bool]]] = [
        *(
            (f"rules, {name}, first run", of, lambda case: first[case.id] in SURVIVED)
            for name, of in zip(("last texts", "later texts", "held out"), unseen, strict=True)
        ),
        ("mentions, last and later texts", [*unseen[0], *unseen[1]], mentioned),
        ("words, all, now", agreed, lambda case: now[case.id] in SURVIVED),
        ("words, real model, now", real, lambda case: now[case.id] in SURVIVED),
        ("mentions, all", agreed, mentioned),
        ("mentions, real model", real, mentioned),
    ]
    rows = [
        [name, *_scores(of, lambda case: case.a in SURVIVED, finds)] for name, of, finds in measures
    ]
    return _table(["measure", "texts that survived", "precision", "recall"], rows)


def _among(ids: set[str]) -> Callable[[Case], bool]:
    return lambda case: case.id in ids


def _scores(
    of: Iterable[Case], is_it: Callable[[Case], bool], finds: Callable[[Case], bool]
) -> list[str]:
    pairs = Counter((is_it(case), finds(case)) for case in of)
    right, there = pairs[True, True], pairs[True, True] + pairs[True, False]
    return [str(there), _share(right, right + pairs[False, True]), _share(right, there)]


def _confusion(of: Sequence[Case], said: Mapping[str, SurvivalState]) -> list[str]:
    counted = Counter((case.a, said[case.id]) for case in of)
    rows = [[name, *(str(counted[name, one] or "") for one in STATES)] for name in STATES]
    return _table(["readers, then rules", *STATES], rows)


def _mentions(of: Sequence[Case]) -> list[str]:
    rows: list[list[str]] = []
    for name in STATES:
        texts = [case for case in of if case.a == name]
        rows.append([name, _share(sum(map(mentioned, texts)), len(texts))])
    return _table(["state by the readers", "called mentioned"], rows)


def _disagreements() -> list[str]:
    rows = [
        [case.id, case.a, case.b, said_now()[case.id], _brief(case)]
        for case in cases()
        if not case.agreed
    ]
    return _table(["case", "first", "second", "words", "text"], rows)


def _errors(of: Iterable[Case], said: Mapping[str, SurvivalState]) -> Iterator[str]:
    rows = [
        [case.id, case.half.replace("_", " "), case.a, said[case.id], _brief(case)]
        for case in of
        if said[case.id] not in (case.a, "cannot tell")
    ]
    yield from _table(["case", "half", "readers", "words", "text"], rows)


def _share(part: int, whole: int) -> str:
    return f"{part}/{whole} ({part / whole:.1%})" if whole else "-"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]


def _brief(case: Case) -> str:
    text = " ".join(case.text.split()).replace("|", "\\|").replace("`", "'")
    return f"`{text if len(text) <= 220 else text[:219] + '…'}`"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the page, or record the first run on the held-out half."""
    parser = argparse.ArgumentParser(description="The survival measures against labelled texts.")
    parser.add_argument(
        "--record", action="store_true", help="record the held-out half's first run"
    )
    if parser.parse_args(arguments).record:
        record()
    else:
        sys.stdout.write(page())


if __name__ == "__main__":
    main()
