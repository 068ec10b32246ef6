"""Score committed texts anew with the reader ``local``, beside what the rules had said of them.

``python -m results.tools.rescored read --minutes 20`` asks about texts in an order drawn by seed
and goes on where it stopped; ``python -m results.tools.rescored page`` scores all of them by
``words`` and writes ``rescored.md``.
The texts are the labelled ones of ``tests/grading/survival_cases``, and the contexts after
compaction in ``results/frames/*.texts.json``, as far as those files hold them.
"""

from __future__ import annotations

import asyncio
import csv
import hashlib
import json
import time
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from constraintrot.report.page.detail import ENDING
from constraintrot.rule_text import words
from constraintrot.rule_text.reader import Reader, Rule
from constraintrot.rule_text.survival import SURVIVED
from constraintrot.scenario.files import load
from results.tools.reading import rows
from results.tools.survival_validation import cases, first_run

RESULTS = Path(__file__).parents[1]
FILE, PAGE = RESULTS / "rescored.csv", RESULTS / "rescored.md"
CASES = "survival_cases"
_COLUMNS = ("source", "item", "family", "locale", "label", "old", "new", "bound")
_SHOWN = ("same", "added")


@dataclass(frozen=True)
class Text:
    """A committed text that was scored.

    Attributes:
        source: its frame, or ``survival_cases``.
        item: its episode or case.
        family: the scenario.
        locale: its language.
        seed: its variant.
        split: the variant's split.
        wording: the policy's wording.
        label: what two readings agreed on; empty for an episode.
        old: the state by the rules.
        text: the text.
    """

    source: str
    item: str
    family: str
    locale: str
    seed: int
    split: str
    wording: str
    label: str
    old: str
    text: str


def texts() -> Iterator[Text]:
    """All committed texts that have a state by the rules."""
    said = first_run()
    for case in cases():
        if case.agreed and case.id in said:
            yield Text(
                CASES, case.id, case.family, case.locale, case.seed, "all", "declarative",
                case.a, said[case.id], case.text,
            )  # fmt: skip
    for path in sorted((RESULTS / "frames").glob(f"*{ENDING}")):
        name = path.name.removesuffix(ENDING)
        frame = {row["episode"]: row for row in rows(path.with_name(f"{name}.csv"))}
        for told in json.loads(path.read_text(encoding="utf-8")):
            row = frame.get(told["episode"])
            if row and row["state"] and row["measure"] == "rules" and told["diff"]:
                yield Text(
                    name, row["episode"], row["family"], row["locale"], int(row["seed"]),
                    row["split"], row["wording"], "", row["state"], _context(told["diff"]),
                )  # fmt: skip


def _context(diff: Sequence[dict[str, str]]) -> str:
    """The lines after compaction that the file holds, without the request, which comes last."""
    lines = [line["text"][1:] for line in diff if line["kind"] in _SHOWN]
    last = max((at for at, line in enumerate(lines) if line.startswith("user: ")), default=0)
    return "\n".join(lines[:last])


async def ask(reader: Reader, path: Path, seed: int, minutes: float) -> None:
    """Ask about the texts that a file does not hold yet, until the time is over."""
    end = time.monotonic() + 60 * minutes
    given = list(texts())
    known = {(row["source"], row["item"]): (row["new"], row["bound"]) for row in rows(path)}
    # Several frames hold the same context; what was asked once is not asked again.
    said = {_question(one): known[one.source, one.item] for one in given if _is_of(one, known)}
    left = [one for one in given if not _is_of(one, known)]
    with path.open("a", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        if not known:
            writer.writerow(_COLUMNS)
        for one in sorted(left, key=lambda one: _drawn(one, seed)):
            if time.monotonic() > end:
                return
            question = _question(one)
            if question not in said:
                said[question] = await _asked(reader, one)
            writer.writerow(
                (one.source, one.item, one.family, one.locale, one.label, one.old, *said[question])
            )
            stream.flush()


async def _asked(reader: Reader, one: Text) -> tuple[str, str]:
    (found,) = await reader.states([_rule(one)], [one.text])
    return found.state, f"{found.bound:.4f}"


def _rule(one: Text) -> Rule:
    variant = load(one.family, one.locale).variant(one.seed, one.split, texts=1)  # type: ignore[arg-type]  # as the frame has it
    return Rule(variant.policy(one.wording), variant.slots)  # type: ignore[arg-type]  # as the frame has it


def _question(one: Text) -> tuple[object, ...]:
    return one.family, one.locale, one.seed, one.split, one.wording, one.text


def _is_of(one: Text, known: Container[tuple[str, str]]) -> bool:
    return (one.source, one.item) in known


def _drawn(one: Text, seed: int) -> str:
    return hashlib.sha256(f"{seed} {one.source} {one.item}".encode()).hexdigest()


def page() -> str:
    """The page: both readers against the labels, and where they differ on episodes."""
    found = rows(FILE)
    labelled = [row for row in found if row["source"] == CASES]
    episodes = [row for row in found if row["source"] != CASES]
    parts = [_HEAD, _labelled(labelled), _EPISODES.format(n=len(episodes)), _frames(episodes)]
    anew = [{**_row(one), "new": _words(one)} for one in texts()]
    parts += [_crossed(episodes), _ALL.format(n=len(anew)), _labelled_by_words(anew)]
    of_frames = [row for row in anew if row["source"] != CASES]
    return "\n\n".join([*parts, _frames(of_frames, "words"), _crossed(of_frames, "words")]) + "\n"


def _row(one: Text) -> dict[str, str]:
    return {"source": one.source, "label": one.label, "old": one.old}


def _words(one: Text) -> str:
    return words.reading(_rule(one), [one.text]).state


def _labelled_by_words(found: Sequence[dict[str, str]]) -> str:
    given = [row for row in found if row["source"] == CASES]
    decided = [row for row in given if row["new"] != _OPEN]
    wrong = [
        sum((row[key] in SURVIVED) != (row["label"] in SURVIVED) for row in decided)
        for key in ("old", "new")
    ]
    return (
        f"Of the {len(given)} labelled texts `words` decides {len(decided)}, {wrong[1]} of them wrong"
        f" about survival; the reader that scored them first was wrong in {wrong[0]} of the same texts,"
        f" and in {sum((row['old'] in SURVIVED) != (row['label'] in SURVIVED) for row in given)} of all."
    )


def _labelled(found: Sequence[dict[str, str]]) -> str:
    lines = [
        "| reader | texts | wrong about survival | precision | recall |",
        "| --- | --- | --- | --- | --- |",
    ]
    german = [row for row in found if row["locale"] == "de"]
    others = [row for row in found if row["locale"] != "de"]
    for name, key, some in (
        ("rules", "old", others), ("local", "new", others), ("local, German", "new", german),
    ):  # fmt: skip
        said = [row[key] in SURVIVED for row in some]
        truth = [row["label"] in SURVIVED for row in some]
        right = sum(a and b for a, b in zip(said, truth, strict=True))
        wrong = sum(a != b for a, b in zip(said, truth, strict=True))
        cells = (_share(wrong, len(some)), _share(right, sum(said)), _share(right, sum(truth)))
        lines.append(f"| {name} | {len(some)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _frames(found: Sequence[dict[str, str]], reader: str = "local") -> str:
    """Episodes of each frame; one that the reader leaves open differs in nothing."""
    lines = [
        f"| frame | episodes | survived by rules | survived by {reader} | left open | differ |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name in sorted({row["source"] for row in found}):
        some = [row for row in found if row["source"] == name]
        old, new = ([row[key] in SURVIVED for row in some] for key in ("old", "new"))
        left = [row["new"] == _OPEN for row in some]
        differ = sum(a != b and not c for a, b, c in zip(old, new, left, strict=True))
        lines.append(f"| {name} | {len(some)} | {sum(old)} | {sum(new)} | {sum(left)} | {differ} |")
    return "\n".join(lines)


def _crossed(found: Sequence[dict[str, str]], reader: str = "local") -> str:
    counted = Counter((row["old"], row["new"]) for row in found)
    lines = [f"| by rules | by {reader} | episodes |", "| --- | --- | --- |"]
    for (old, new), count in counted.most_common():
        lines.append(f"| {old} | {new} | {count} |")
    return "\n".join(lines)


def _share(part: int, whole: int) -> str:
    return f"{part}/{whole} = {part / whole:.0%}" if whole else "-"


_HEAD = """# Committed texts scored anew

Made by `python -m results.tools.rescored page` from [rescored.csv](rescored.csv), which `python -m results.tools.rescored read` wrote: texts that the word lists (`rules`, without abstention) had scored, read by the reader `local` ([card](../constraintrot/rule_text/rule_reader/card.md)), in an order drawn by seed, as far as the time allowed. The frames and their reports are left as they were scored.

## Labelled texts

Of the [survival cases](../tests/grading/survival_cases/README.md) on which both readings agree and that the rules had not been mended on; the state by the rules is that of their first run (German came after the rules). Texts, labels and rules are by one author, so the comparison favours the rules; the policies are of the nine families, which `local` was not trained on."""
_EPISODES = """## Episodes

{n} contexts after compaction, drawn from the frames whose texts are committed; these files hold what a compaction changed and what stands around it, so unchanged earlier turns may be missing. There is no label: a difference says that one of the two is wrong, and where the rules say `verbatim` the policy's own words stand, so it is more likely `local`."""
_ALL = """## All texts, by the word lists of today

The reader `words` costs nothing, so all {n} committed texts are scored by it whenever this page is made. It is what became of the rules: it leaves a text open where those guessed. The states by the rules are those that the frames and their reports were made with; those of the German cases are of the first run of `words`. A policy that was `verbatim` and is `lost` here stood in a part that the compaction left as it was, which these files leave out: the system message, the oldest turns that `head_tail` keeps, a pin of LangMem's."""
_OPEN = "cannot tell"


@click.group()
def main() -> None:
    """Score committed texts anew."""


@main.command("read")
@click.option("--seed", default=34, show_default=True, help="Seed of the texts' order.")
@click.option("--minutes", default=20.0, show_default=True, help="Begin no text after so many.")
def read(seed: int, minutes: float) -> None:
    """Ask the reader about texts that the file does not hold yet."""
    from constraintrot.evaluation.readers import local

    asyncio.run(ask(local(), FILE, seed, minutes))


@main.command("page")
def write_page() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
