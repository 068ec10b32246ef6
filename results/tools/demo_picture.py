"""The README's picture: one request of the demo under three conditions, as SVG.

``python -m results.tools.demo_picture logs/demo`` writes docs/figures/demo.svg from a run of
``constraintrot demo``.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from constraintrot.report.untrusted import cut
from constraintrot.runs import demo

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample

PICTURE: Final = Path("docs/figures/demo.svg")
_TITLES = {
    "control": "1. The rule is in the context",
    "compaction": "2. The history was summarised",
    "defense_pin": "3. Summarised, rule pinned",
}
_HEADS = {"The summary:": "Summary", "It answers:": "Answer"}
_COLOURS = {"VIOLATED": "#b42318", "OBEYED": "#1a7f4b", "UNKNOWN": "#8a6d00"}
_WIDTH, _PAD, _LINE = 960, 20, 18
_CARD = (_WIDTH - 4 * _PAD) // 3
# Characters of a line of 13 px text in a card, and across the picture.
_IN_CARD, _ACROSS = 40, 132


@click.command()
@click.argument("log_dir", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option("-o", "--out", type=click.Path(path_type=Path), default=PICTURE, show_default=True)
def main(log_dir: Path, out: Path) -> None:
    """Draw the first request of the demo's logs in LOG_DIR."""
    out.write_text(picture(first_request(log_dir)), encoding="utf-8", newline="\n")
    click.echo(out)


def first_request(log_dir: Path) -> dict[str, EvalSample]:
    """Return the samples of seed 0 of soft_email, by condition."""
    from inspect_ai.log import read_eval_log

    samples = (
        sample
        for path in sorted(log_dir.glob("*soft-email*.eval"))
        for sample in read_eval_log(str(path)).samples or ()
    )
    wanted = {str(one.metadata["condition"]): one for one in samples if one.metadata["seed"] == 0}
    return {name: wanted[name] for name in demo.TOLD}


def picture(samples: Mapping[str, EvalSample]) -> str:
    """Return the SVG of one request under three conditions."""
    first = next(iter(samples.values()))
    top = [
        ("Rule, said early on", demo.policy(first)),
        ("Request, at the end", demo.request(first)),
    ]
    parts, y = [], _PAD
    for head, text in top:
        block, height = _block(head, text, _PAD, y, _ACROSS, most=2)
        parts += block
        y += height + 8
    cards = [list(_card(name, one)) for name, one in samples.items()]
    tallest = max(len(lines) for lines in cards)
    height = y + 46 + tallest * _LINE + 44 + _PAD
    for at, (name, lines) in enumerate(zip(samples, cards, strict=True)):
        word = demo.verdict(samples[name])
        parts += _drawn(_PAD + at * (_CARD + _PAD), y, height - y - _PAD, name, lines, word)
    return _svg(height, parts)


def _card(name: str, sample: EvalSample) -> Iterator[tuple[str, str]]:
    """Yield the lines of a condition's card, each with its style."""
    for head, text in demo.steps(sample):
        if head in _HEADS and text:
            yield "head", _HEADS[head]
            for line in _wrapped(text, _IN_CARD, most=8):
                yield "text", line


def _drawn(
    x: int, y: int, height: int, name: str, lines: list[tuple[str, str]], word: str
) -> Iterator[str]:
    yield f'<rect x="{x}" y="{y}" width="{_CARD}" height="{height}" rx="8" class="card"/>'
    yield _text(x + 12, y + 26, "title", _TITLES[name])
    for at, (style, line) in enumerate(lines):
        yield _text(x + 12, y + 52 + at * _LINE, style, line)
    yield (
        f'<text x="{x + 12}" y="{y + height - 16}" class="word" style="fill:{_COLOURS[word]}">{word}</text>'
    )


def _block(head: str, text: str, x: int, y: int, width: int, *, most: int) -> tuple[list[str], int]:
    lines = _wrapped(text, width, most)
    drawn = [_text(x, y + 14, "head", head)]
    drawn += [_text(x, y + 14 + _LINE * at, "text", line) for at, line in enumerate(lines, start=1)]
    return drawn, _LINE * (1 + len(lines))


def _wrapped(text: str, width: int, most: int) -> list[str]:
    return textwrap.wrap(
        " ".join(cut(text).split()),
        width,
        max_lines=most,
        placeholder=" ...",
        break_long_words=True,
    )


def _text(x: int, y: int, style: str, text: str) -> str:
    return f'<text x="{x}" y="{y}" class="{style}">{escape(text)}</text>'


def _svg(height: int, parts: list[str]) -> str:
    style = (
        "text{font:13px ui-sans-serif,system-ui,'Segoe UI',Helvetica,Arial,sans-serif;fill:#1f2328}"
        ".head{fill:#59636e;font-size:12px}.title{font-weight:600;font-size:14px}"
        ".word{font-weight:700;font-size:18px}.card{fill:#f6f8fa;stroke:#d1d9e0}"
    )
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}"'
            f' width="{_WIDTH}" height="{height}" role="img"'
            ' aria-label="One request: obeyed in sight, broken after the summary, obeyed when pinned">',
            f"<style>{style}</style>",
            f'<rect width="{_WIDTH}" height="{height}" rx="10" fill="#ffffff"/>',
            *parts,
            "</svg>\n",
        )
    )


if __name__ == "__main__":
    main()
