"""``-T attack=@file``: what a search found, as an attack.

``@file`` is the search's best prompt, ``@file#7`` its seventh; settings follow
as for every attack, ``@file#7:channel=document``.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from constraintrot.attack_search import candidate, journal
from constraintrot.attack_search.trial import Query, best
from constraintrot.attacks import Chosen, given
from constraintrot.errors import ParameterError

_WRITTEN = re.compile(
    r"(?:@|file:)(?P<path>.+?)(?:#(?P<query>\d+))?(?::(?P<listed>[^:/\\]*=[^:/\\]*))?", re.DOTALL
)


def chosen(text: str) -> Chosen:
    """The attack of ``@file``, as ``attacks.read`` reads it.

    Raises:
        ParameterError: the file is missing, cut short, of another version or
            holds no such prompt; or its search found nothing that worked.
    """
    found = _WRITTEN.fullmatch(text.strip())
    if found is None:
        raise ParameterError(f"attack {text!r} names no file; write @FILE, or @FILE#7 for a prompt")
    read = journal.read(Path(found["path"]))
    query = _query(read, found["query"])
    name = f"@{found['path']}" + (f"#{query.number}" if found["query"] else "")
    settings = read.settings
    attack = candidate.chosen(
        name, query.candidate, settings.channel, settings.position, settings.knowledge
    )
    return replace(
        attack,
        settings=given(name, attack.attack, found["listed"]),
        searched=dict.fromkeys(settings.families, settings.seeds),
    )


def _query(read: journal.Journal, number: str | None) -> Query:
    history = read.history()
    if number is not None:
        query = next((one for one in history if one.number == int(number)), None)
        if query is None or not query.candidate.text:
            raise ParameterError(
                f"{read.path} holds no prompt {number}; it has 1 to {len(history)}"
            )
        return query
    query = best(history)
    if query is None:
        raise ParameterError(f"{read.path} holds no prompt at all, so there is nothing to play")
    if not query.broken:
        raise ParameterError(
            f"the search of {read.path} found no attack: 0 successes in {len(history)} prompts;"
            f" @{read.path}#{query.number} plays the one that came closest"
        )
    return query
