"""Measure a reader of rules on texts and sentences that its author did not write.

``python -m results.tools.reading read words`` asks a reader about every labelled item and writes
``results/reading/words.csv``; it goes on where it stopped. ``python -m results.tools.reading page``
writes ``results/reading.md`` from these files. A reader is run once its making is over; what it
says there may not lead to another choice.
"""

from __future__ import annotations

import asyncio
import csv
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from constraintrot.rule_text.reader import Passage, Reader, Rule
from constraintrot.rule_text.words import WordsReader

FOLDER = Path(__file__).parents[1] / "reading"
PAGE = FOLDER.with_suffix(".md")
# The labels' names of states, as readers have them.
_NAMES = {
    "lifted": "contradicted", "of_others": "attributed", "otherwise_scoped": "scoped",
    "cannot_tell": "cannot tell",
}  # fmt: skip
_STATES = (
    "verbatim", "restated", "weakened", "contradicted", "scoped", "attributed", "partial", "deeds",
    "lost", "cannot tell",
)  # fmt: skip
_COLUMNS = ("set", "item", "text", "lang", "label", "bound", "state", "probability")
_BINS = 10


@dataclass(frozen=True)
class Item:
    """A rule and a text with its label, or a sentence with its label.

    Attributes:
        of: ``states``, ``summaries`` or ``sentences``.
        id: unique within the set.
        text_id: items of one text are no independent trials.
        lang: language of the text.
        rule: the rule; empty for a sentence.
        text: the text, or the passage with the sentence in it.
        label: the state; for a sentence ``standing`` or ``other``.
        bound: whether the rule binds, or the sentence is a standing instruction; None where
            two honest readers would differ.
        sentence: the sentence that is asked about.
        speaker: who says it.
    """

    of: str
    id: str
    text_id: str
    lang: str
    rule: str
    text: str
    label: str
    bound: bool | None
    sentence: str = ""
    speaker: Any = "user"


def items() -> Iterator[Item]:
    """All labelled items of the committed sets."""
    for told in _lines("states"):
        yield _item("states", told["id"], told.get("text_id", told["id"]), told["text"], told)
    for told in _lines("summaries"):
        for at, rule in enumerate(told["rules"]):
            whole = {"lang": told["lang"], **rule}
            yield _item("summaries", f"{told['id']}-{at}", told["id"], told["text"], whole)
    for told in _lines("sentences"):
        passage = " ".join(
            part for part in (told["before"], told["sentence"], told["after"]) if part
        )
        label = "standing" if told["standing"] else "other"
        yield Item(
            "sentences", told["id"], told["id"], told["lang"], "", passage, label,
            told["standing"], told["sentence"], told["speaker"].replace("_", " "),
        )  # fmt: skip


def _item(of: str, name: str, text_id: str, text: str, told: dict[str, Any]) -> Item:
    label = _NAMES.get(told["state"], told["state"])
    return Item(of, name, text_id, told["lang"], told["rule"], text, label, told["bound"])


def _lines(name: str) -> Iterator[dict[str, Any]]:
    path = FOLDER / f"{name}.jsonl"
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


async def ask(reader: Reader, path: Path, every: int = 1) -> None:
    """Ask a reader about all items that a file does not hold yet, a text at a time.

    Args:
        reader: who is asked.
        path: its file.
        every: one text of so many is asked about, chosen by the digest of its id.
    """
    done = {(row["set"], row["item"]) for row in rows(path)}
    left = [one for one in items() if (one.of, one.id) not in done and _number(one) % every == 0]
    groups: dict[tuple[str, str], list[Item]] = {}
    for one in left:
        groups.setdefault((one.of, one.text), []).append(one)
    with path.open("a", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        if not done:
            writer.writerow(_COLUMNS)
        for at, some in enumerate(groups.values(), start=1):
            for one, (state, probability) in zip(some, await _asked(reader, some), strict=True):
                writer.writerow(
                    (one.of, one.id, one.text_id, one.lang, one.label, one.bound, state,
                     f"{probability:.4f}")
                )  # fmt: skip
            stream.flush()
            if at % 20 == 0:
                click.echo(f"{at} of {len(groups)} texts", err=True)


def _number(item: Item) -> int:
    return int(hashlib.sha256(f"{item.of} {item.text_id}".encode()).hexdigest()[:8], 16)


async def _asked(reader: Reader, some: Sequence[Item]) -> list[tuple[str, float]]:
    if some[0].of != "sentences":
        found = await reader.states([Rule(one.rule) for one in some], [some[0].text])
        return [(one.state, one.bound) for one in found]
    answers: list[tuple[str, float]] = []
    for one in some:
        (rules,) = await reader.rules([Passage(one.text, one.speaker)])
        start = one.text.index(one.sentence)
        end = start + len(one.sentence)
        best = max(
            (rule.probability for rule in rules if rule.start < end and rule.end > start),
            default=0.0,
        )
        answers.append(("standing" if best >= 0.5 else "other", best))
    return answers


def rows(path: Path) -> list[dict[str, str]]:
    """The answers that a file holds."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def auc(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """Area under the ROC curve; ties count half; nan without both labels."""
    yes = [score for score, label in zip(scores, labels, strict=True) if label]
    no = [score for score, label in zip(scores, labels, strict=True) if not label]
    if not yes or not no:
        return float("nan")
    return sum((a > b) + (a == b) / 2 for a in yes for b in no) / (len(yes) * len(no))


def calibration_error(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """Expected calibration error: the mean gap of probability and share, over ten bins."""
    bins: dict[int, list[tuple[float, bool]]] = {}
    for score, label in zip(scores, labels, strict=True):
        bins.setdefault(min(int(score * _BINS), _BINS - 1), []).append((score, label))
    gaps = (
        abs(sum(score for score, _ in some) - sum(label for _, label in some))
        for some in bins.values()
    )
    return sum(gaps) / len(scores) if scores else float("nan")


def _share(part: int, whole: int) -> str:
    return f"{part}/{whole} = {part / whole:.0%}".replace("%", " %") if whole else "-"


def figures(answers: Sequence[dict[str, str]]) -> list[str]:
    """One row of the page: items, decided, wrong, precision, recall, AUC, calibration error."""
    judged = [row for row in answers if row["bound"] in ("True", "False")]
    decided = [row for row in judged if row["state"] != "cannot tell"]
    said = [row["state"] in ("verbatim", "restated", "standing") for row in decided]
    truth = [row["bound"] == "True" for row in decided]
    right = sum(a and b for a, b in zip(said, truth, strict=True))
    wrong = sum(a != b for a, b in zip(said, truth, strict=True))
    scores = [float(row["probability"]) for row in judged]
    labels = [row["bound"] == "True" for row in judged]
    return [
        str(len(judged)), _share(len(decided), len(judged)), _share(wrong, len(decided)),
        _share(right, sum(said)), _share(right, sum(labels)),
        f"{auc(scores, labels):.3f}", f"{calibration_error(scores, labels):.3f}",
    ]  # fmt: skip


def page() -> str:
    """The page of all readers that were run."""
    parts = [_HEAD]
    table = [
        "| reader | texts | items | decided | wrong of these | precision | recall (of all) | AUC | calibration error |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for path in sorted(FOLDER.glob("*.csv")):
        of = rows(path)
        for name in ("states", "summaries", "sentences"):
            some = [row for row in of if row["set"] == name]
            if some:
                table.append(f"| {' | '.join([path.stem, name, *figures(some)])} |")
    parts.append("\n".join(table))
    for path in sorted(FOLDER.glob("*.csv")):
        parts.append(_confusion(path))
    return "\n\n".join(parts) + "\n"


def _confusion(path: Path) -> str:
    counted = Counter(
        (row["label"], row["state"]) for row in rows(path) if row["set"] != "sentences"
    )
    lines = [
        f"## States by `{path.stem}`",
        f"| labelled, then read | {' | '.join(_STATES)} |\n| --- |{' --- |' * len(_STATES)}",
    ]
    for label in _STATES:
        cells = (str(counted[label, state] or "") for state in _STATES)
        lines[1] += f"\n| {label} | {' | '.join(cells)} |"
    return "\n\n".join(lines)


_HEAD = """# How well rules are read in prose

Made by `python -m results.tools.reading page` from the files in [reading](reading), which `python -m results.tools.reading read READER` wrote.

The sets were written from the [definitions](../docs/measurement.md) alone, without the code, its generator or other labelled texts in view: `states` (short and middle texts, English, German, Spanish and Chinese), `summaries` (headed Markdown of 250 to 400 words with four to six rules each) and `sentences` (is this a standing instruction to whoever works here?). Labels were read twice by their writer, in another order; items on which two honest readers would differ are left out of the figures.

Precision and recall are of "in force" (for sentences: of standing instructions). Recall is over all items, so an abstention counts as missed. Items of one text are no independent trials. `rules` is the measure by word lists as survival was scored before, which always decided. `words-first` is the first run of the reader `words`; since its cues for lifted and weakened rules were wrong in half of the cases, it decides of a rule without declared slots only whether its own words stand, and whether nothing of it does. The figures of `words` are therefore not of texts that it had never met. The calibration error is the mean gap between probability and share over ten bins.

`local` is the small model with the adapter `rule-reader` ([card](../constraintrot/rule_text/rule_reader/card.md)), run once after every choice. It is slow, so not all texts were read: the first ones of every third text of `states`, every ninth of the others; compare it with other readers on the same items only."""


@click.group()
def main() -> None:
    """Measure readers of rules."""


@main.command()
@click.argument("name", type=click.Choice(["words", "local"]))
@click.option("--every", default=1, show_default=True, help="One text of so many.")
def read(name: str, every: int) -> None:
    """Ask a reader about every labelled item that its file does not hold yet."""
    readers: dict[str, Callable[[], Reader]] = {"words": WordsReader, "local": _local}
    reader = readers[name]()
    asyncio.run(ask(reader, FOLDER / f"{name}.csv", every))


def _local() -> Reader:
    from constraintrot.evaluation.readers import local

    # Unlikely ones too: they have a probability, which the area under the curve is of.
    return local(least=0.0)


@main.command("page")
def write_page() -> None:
    """Write the page from the answers of all readers."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
