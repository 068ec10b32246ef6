"""Reads drawn turns again: do the checks that their template declares hold of them?"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from constraintrot.scenario.compiler import Env
from constraintrot.scenario.expression import expression
from constraintrot.scenario.schema import HistoryTurn
from constraintrot.scenario.topic import Template

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_GROUPS = {"en": ",", "zh": ",", "es": ".", "de": "."}


def functions(locale: str) -> dict[str, Callable[..., Any]]:
    """The functions that a check may call beside those of every expression."""

    def numbers(written: str) -> list[float]:
        """Every number in a text, in order."""
        joined = re.sub(rf"(?<=\d){re.escape(_GROUPS[locale])}(?=\d{{3}}(?!\d))", "", written)
        if _GROUPS[locale] == ".":
            joined = re.sub(r"(?<=\d),(?=\d)", ".", joined)
        return [float(found) for found in _NUMBER.findall(joined)]

    def find(pattern: str, written: str) -> str:
        """Return a pattern's first match (its group, or all of it), or an empty text."""
        found = re.search(pattern, written)
        return "" if found is None else found[found.re.groups and 1]

    return {
        "numbers": numbers,
        "find": find,
        "finds": lambda pattern, written: re.findall(pattern, written),
        "times": lambda part, written: str(written).count(str(part)),
    }


def failed_checks(
    template: Template, env: Env, drawn: Sequence[HistoryTurn], locale: str
) -> list[str]:
    """The checks of a template that do not hold of a draw."""
    results = [turn.calls[-1].result if turn.calls else "" for turn in drawn]
    read: Env = {
        **env,
        **functions(locale),
        "users": [turn.user for turn in drawn],
        "replies": [turn.reply for turn in drawn],
        "results": results,
        "user": drawn[-1].user,
        "reply": drawn[-1].reply,
        "result": results[-1],
    }
    return [check for check in template.check if expression(check).run(read) is not True]
