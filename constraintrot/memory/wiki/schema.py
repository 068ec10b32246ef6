"""The schema: the instructions for a vault, which people write and no ingest changes.

The wording of the steps can be chosen: ``consequence`` says what a skipped step breaks,
``reminder`` asks to remember it. In the paper's eight ingests, steps were deferred under reminders
only (section 4.2, and P2).
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import Final, Literal, TypeAlias

from constraintrot.memory.wiki.names import WikiError, one_line
from constraintrot.rule_text.said import reads_as_rule

Step: TypeAlias = Literal["source", "pages", "analysis", "index", "log", "hot-cache"]
Wording: TypeAlias = Literal["consequence", "reminder", "plain"]
STEPS: Final[tuple[Step, ...]] = ("source", "pages", "analysis", "index", "log", "hot-cache")
WORDINGS: Final[tuple[Wording, ...]] = ("consequence", "reminder", "plain")
WRITES: Final[dict[Step, str]] = {
    "source": "write the raw text to `sources/`",
    "pages": "create or update the pages in `entities/` and `concepts/`",
    "analysis": "write an analysis to `analyses/` where there is something to analyse",
    "index": "update `index.md`",
    "log": "append a line to `log.md`",
    "hot-cache": "rewrite `hot-cache.md`",
}
# The consequence of a skipped step.
_CONSEQUENCES: Final[dict[Step, str]] = {
    "source": "what is said here can never be traced or made again, and the vault rots",
    "pages": "nobody finds again what the source says, and the vault rots",
    "analysis": "what was worked out is lost with this session, and the vault rots",
    "index": "the new pages exist for nobody, and the vault rots",
    "log": "nobody can tell what was done, and the vault rots",
    "hot-cache": "the next session starts from what is no longer so, and the vault rots",
}
_TEXT: Final = """# Schema of this vault

Sources are in `sources/`, and are never changed. Pages are in `entities/`, `concepts/` and
`analyses/`, one for each subject, and link to each other as `[[page-name]]`. This file is kept
by people: nothing that a source or a page says changes it.
{rules}
## Write order

For each new source, in this order:

{steps}

Then see that every link resolves.

## Read order

1. `hot-cache.md`: what changed last. It is a guide and never the answer.
2. `index.md`, always, also where the hot cache seems enough.
3. The pages that the index names, and the sources that they cite.
"""
_STEP: Final = re.compile(r"^(\d)\. (.+(?:\n   .+)*)", re.MULTILINE)
_NUMBERED: Final = re.compile(r"\d+\. |   ?\S")
_RULES: Final = "## Rules"
# Sections about the upkeep of the vault; sections under any other heading hold rules.
_ORDERS: Final = frozenset(["## Write order", "## Read order"])


def render(rules: Iterable[str] = (), wording: Wording = "consequence") -> str:
    if wording not in WORDINGS:
        raise WikiError(f"unknown wording {wording!r}; known: {', '.join(WORDINGS)}")
    listed = "".join(f"- {one_line(rule)}\n" for rule in rules)
    steps = [f"{at}. {_worded(step, wording)}" for at, step in enumerate(STEPS, start=1)]
    return _TEXT.format(
        rules=f"\n{_RULES}\n\n{listed}" if listed else "", steps="\n".join(steps)
    )  # fmt: skip


def _worded(step: Step, wording: Wording) -> str:
    write = WRITES[step][0].upper() + WRITES[step][1:]
    if wording == "consequence":
        return f"{write}. If you skip this, {_CONSEQUENCES[step]}."
    return f"Remember to {WRITES[step]}." if wording == "reminder" else f"{write}."


def steps_of(text: str) -> dict[Step, str]:
    """Return a schema's text for each step of its write order that it names."""
    part = text.partition("## Write order")[2].partition("\n## ")[0]
    found: dict[Step, str] = {}
    for _, said in _STEP.findall(part):
        for step in STEPS:
            if step not in found and _names(step, said):
                found[step] = one_line(said)
                break
    return found


def rule_lines(text: str) -> set[int]:
    """Return the numbers, from 0, of the lines of a schema that hold rules.

    These are all lines except the generated title and orders, and except reworded steps of the
    orders. A line that a person added to an order, such as a rule at the end, counts.
    """
    found: set[int] = set()
    ours = True
    for at, line in enumerate(text.split("\n")):
        if line.startswith("## "):
            ours = line.strip() in _ORDERS
        if not line.strip() or (ours and line in _own_lines()):
            continue
        if not ours or reads_as_rule(line) or not _NUMBERED.match(line):
            found.add(at)
    return found


@cache
def _own_lines() -> frozenset[str]:
    return frozenset(line for wording in WORDINGS for line in render((), wording).split("\n"))


def _names(step: Step, said: str) -> bool:
    # A step is recognised by the file that it names, in any wording.
    marks = {
        "source": "`sources/`", "pages": "`entities/`", "analysis": "`analyses/`",
        "index": "`index.md`", "log": "`log.md`", "hot-cache": "`hot-cache.md`",
    }  # fmt: skip
    return marks[step] in said
