"""Recognises rules in a policy's sentence on the programs that a command runs."""

import re
from collections.abc import Sequence

from constraintrot.authoring.rule import Rule
from constraintrot.authoring.sentence import Sentence
from constraintrot.scenario.template import Value

_PROGRAMS_TEXT = """
airflow apt aws bun cargo conda curl docker gcloud gh git helm just kubectl make mvn npm npx pip
pip3 pnpm poetry psql pytest python python3 rm sed sudo terraform uv wget yarn
"""
_PROGRAMS = frozenset(_PROGRAMS_TEXT.split())
_NAME = r"(?:(?:(?:bare|system|plain) )?(?:`[^`]+`|[a-z][a-z0-9]+))"
_NAMES = rf"{_NAME}(?:(?:, or|,? and|, |,| or|/) ?{_NAME})*"
_RUN = re.compile(
    rf"^(?:use|run|invoke|execute|call) (?P<names>{_NAMES})(?: commands?)?"
    rf"(?: (?:directly|manually|by hand)(?: on the host)?)?(?:(?:,| [—–-]|;) (?:always )?use (?P<instead>{_NAME})(?: instead)?)?$",
    re.I,
)
_ONE_NOT_OTHERS = re.compile(
    rf"^use (?P<instead>{_NAME})(?:,| [—–-]|;) (?:and )?(?:never|not|do not)(?: use)? (?P<names>{_NAMES})$",
    re.I,
)
_NO_NAMES = ("or", "and")
# Folders of the named program, by the word before its name.
_PLACES = {
    "": r"(?:[^\s;&|()]*/)?",
    "system": r"(?:(?:/usr(?:/local)?)?/s?bin/)?",
    "bare": "",
    "plain": "",
}
_RESTS = ("install", "run build", "--version", "list", "check")
_OTHERS = ("ls -l", "cat notes.txt", "date", "grep -n todo notes.txt", "wc -l list.txt")


def program(sentence: Sentence) -> Rule | None:
    """Return the rule on programs that no command may run, as "never use npm"."""
    found = _RUN.search(sentence.phrase) if sentence.mood == "never" else None
    if found is None and sentence.mood in ("always", "only"):
        found = _ONE_NOT_OTHERS.search(sentence.phrase)
    if found is None:
        return None
    named = _programs(found["names"])
    instead = (found["instead"] or "").strip("`")
    if not named:
        return None
    names = [name for _, name in named]
    return Rule(
        kind="a command",
        predicate={"type": "text_matching", "forbidden": _running(named)},
        argument="command",
        schema={"type": "string", "description": "The command line."},
        says="the command is `{value}`",
        wrong=[_line(names[at % len(names)], at) for at in range(5)],
        right=[_line(instead, at) if instead else _OTHERS[at] for at in range(5)],
        start=found.start(),
        end=found.end(),
        phrases=names,
        action="run this",
        open=[f"which other spellings of {name!r} count" for name in names if " -" in name],
    )


def _programs(text: str) -> list[tuple[str, str]]:
    """Return pairs of a folder pattern and a name for the programs of a list, if all are known.

    A name alone stands for its commands. "bare" and "system" also apply to the following names.
    """
    found: list[tuple[str, str]] = []
    word = ""
    for one in re.finditer(r"(?:\b(bare|system|plain) )?(`[^`]+`|[a-z][a-z0-9]+)", text, re.I):
        if one[2].casefold() not in _NO_NAMES:
            word = (one[1] or word).casefold()
            found.append((_PLACES[word], one[2].strip("`")))
    known = all(name.split()[0].casefold() in _PROGRAMS for _, name in found)
    return found if known else []


def _running(named: Sequence[tuple[str, str]]) -> str:
    """Return a pattern of command lines that run one of the programs, first or later."""
    either = "|".join(
        rf"{place}(?:python3?\s+-m\s+)?{re.escape(name)}".replace(r"\ ", r"\s+")
        for place, name in named
    )
    return rf"(?:^|[;&|(\n])\s*(?:sudo\s+|env\s+|\w+=\S*\s+)*(?:{either})(?:\s|$)"


def _line(name: str, at: int) -> Value:
    return name if " " in name and at % 2 else f"{name} {_RESTS[at]}"
