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
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from constraintrot.rule_text.reader import Passage, Reader, Rule
from constraintrot.rule_text.rule_reader import adapter
from constraintrot.rule_text.words import WordsReader
from results.tools.roc import auc

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
SETS = ("states", "summaries", "sentences")
SIDE_BY_SIDE = ("local", "local-129", "rules", "words")


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


async def ask(reader: Reader, path: Path, seed: int, minutes: float) -> None:
    """Ask a reader about all items that a file does not hold yet, a text at a time.

    Args:
        reader: who is asked.
        path: its file.
        seed: of the texts' order, so that a reading that ends early is a random draw.
        minutes: after so many no further text is begun.
    """
    end = time.monotonic() + 60 * minutes
    done = {(row["set"], row["item"]) for row in rows(path)}
    left = [one for one in items() if (one.of, one.id) not in done]
    groups: dict[tuple[str, str], list[Item]] = {}
    for one in sorted(left, key=lambda one: _drawn(one, seed)):
        groups.setdefault((one.of, one.text), []).append(one)
    with path.open("a", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        if not done:
            writer.writerow(_COLUMNS)
        for at, some in enumerate(groups.values(), start=1):
            if time.monotonic() > end:
                return
            for one, (state, probability) in zip(some, await _asked(reader, some), strict=True):
                writer.writerow(
                    (one.of, one.id, one.text_id, one.lang, one.label, one.bound, state,
                     f"{probability:.4f}")
                )  # fmt: skip
            stream.flush()
            if at % 20 == 0:
                click.echo(f"{at} of {len(groups)} texts", err=True)


def _drawn(item: Item, seed: int) -> str:
    return hashlib.sha256(f"{seed} {item.of} {item.text_id}".encode()).hexdigest()


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


def auc_of(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """Area under the ROC curve of scores of a yes; nan without both labels."""
    labelled = list(zip(scores, labels, strict=True))
    yes, no = ([score for score, label in labelled if label is side] for side in (True, False))
    return auc(yes, no)


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


@dataclass(frozen=True)
class Figures:
    """How well a reader did on some items, those left out on which honest readers would differ.

    Attributes:
        items: how many.
        decided: those of which it could tell.
        wrong: those of them that it told wrongly.
        said: those that it said are in force, or standing instructions.
        right: those of them that are.
        bound: those that are, of all items.
        auc: area under the ROC curve of its probabilities.
        calibration_error: mean gap between probability and share over ten bins.
    """

    items: int
    decided: int
    wrong: int
    said: int
    right: int
    bound: int
    auc: float
    calibration_error: float

    def cells(self) -> list[str]:
        """Return the cells of its row on the page."""
        return [
            str(self.items), _share(self.decided, self.items), _share(self.wrong, self.decided),
            _share(self.right, self.said), _share(self.right, self.bound),
            f"{self.auc:.3f}", f"{self.calibration_error:.3f}",
        ]  # fmt: skip


def figures(answers: Sequence[dict[str, str]]) -> Figures:
    """Count what a reader answered."""
    judged = [row for row in answers if row["bound"] in ("True", "False")]
    decided = [row for row in judged if row["state"] != "cannot tell"]
    said = [row["state"] in ("verbatim", "restated", "standing") for row in decided]
    truth = [row["bound"] == "True" for row in decided]
    scores = [float(row["probability"]) for row in judged]
    labels = [row["bound"] == "True" for row in judged]
    return Figures(
        items=len(judged),
        decided=len(decided),
        wrong=sum(a != b for a, b in zip(said, truth, strict=True)),
        said=sum(said),
        right=sum(a and b for a, b in zip(said, truth, strict=True)),
        bound=sum(labels),
        auc=auc_of(scores, labels),
        calibration_error=calibration_error(scores, labels),
    )


def page() -> str:
    """The page of all readers that were run."""
    answers = {path.stem: rows(path) for path in sorted(FOLDER.glob("*.csv"))}
    beside = {name: answers[name] for name in SIDE_BY_SIDE if name in answers}
    shared = set.intersection(
        *({(row["set"], row["item"]) for row in some} for some in beside.values())
    )
    same = {
        name: [row for row in some if (row["set"], row["item"]) in shared]
        for name, some in beside.items()
    }
    parts = [_HEAD, _table(same), _EACH, _table(answers)]
    return "\n\n".join([*parts, *(_confusion(FOLDER / f"{name}.csv") for name in answers)]) + "\n"


def _table(answers: Mapping[str, Sequence[dict[str, str]]]) -> str:
    lines = [
        "| reader | texts | items | decided | wrong of these | precision | recall (of all) | AUC | calibration error |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, of in answers.items():
        for texts in SETS:
            some = [row for row in of if row["set"] == texts]
            if some:
                lines.append(f"| {' | '.join([name, texts, *figures(some).cells()])} |")
    return "\n".join(lines)


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

`local` is the small model with the adapter `rule-reader` ([card](../constraintrot/rule_text/rule_reader/card.md)), `local-129` the adapter that the package had before it (step 129 of its training). Each was run once, after every choice, over the texts in an order drawn by seed, as far as the time allowed.

## Side by side, on the items that all of these were asked"""

_EACH = "## Each reader on all items that it was asked"


@click.group()
def main() -> None:
    """Measure readers of rules."""


@main.command()
@click.argument("name", type=click.Choice(["words", "local"]))
@click.option("--seed", default=34, show_default=True, help="Seed of the texts' order.")
@click.option("--minutes", default=600.0, show_default=True, help="Begin no text after so many.")
def read(name: str, seed: int, minutes: float) -> None:
    """Ask a reader about every labelled item that its file does not hold yet."""
    readers: dict[str, Callable[[], Reader]] = {"words": WordsReader, "local": _local}
    reader = readers[name]()
    asyncio.run(ask(reader, FOLDER / f"{name}.csv", seed, minutes))


def _local() -> Reader:
    from constraintrot.evaluation.readers import local

    # Unlikely ones too: they have a probability, which the area under the curve is of.
    return local(least=0.0)


@main.command("page")
def write_page() -> None:
    """Write the page from the answers of all readers, and what the packaged adapter may claim."""
    PAGE.write_text(page(), encoding="utf-8")
    told = [row for row in rows(FOLDER / "local.csv") if row["set"] != "sentences"]
    found = figures(told)
    calibration = adapter.calibration().model_copy(
        update={"other_hand": adapter.OtherHand(items=found.decided, wrong=found.wrong)}
    )
    file = Path(adapter.__file__).with_name("calibration.json")
    file.write_text(calibration.model_dump_json(indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
