"""Each scenario, all that a turn says, and the checks that a template declares of its turns."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

import pytest

from constraintrot.scenario.compiler import Env
from constraintrot.scenario.expression import expression
from constraintrot.scenario.files import APART, FOLDER, load
from constraintrot.scenario.schema import HistoryTurn, Scenario
from constraintrot.scenario.topic import Template

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_GROUPS = {"en": ",", "zh": ",", "es": ".", "de": "."}


PUBLISHED = sorted(path.stem for path in FOLDER.glob("*.yaml"))
FILES = sorted(path.stem for path in chain(FOLDER.glob("*.yaml"), APART.glob("*.yaml")))


def each_of(files: Sequence[str]) -> Any:
    """Return the fixture that gives the scenario of each file."""

    @pytest.fixture(params=files)
    def scenario(request: pytest.FixtureRequest) -> Scenario:
        return load(*str(request.param).split("."))

    return scenario


def said(turn: HistoryTurn) -> Iterator[str]:
    """All that a turn says, its reply last."""
    yield turn.user
    for call in turn.calls:
        yield call.function
        yield json.dumps(call.arguments, ensure_ascii=False)
        yield call.result
    yield turn.reply


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
