"""``-T attack=@file``: what a search found, as an attack.

``@file`` is the search's best prompt, ``@file#7`` its seventh; settings follow
as for every attack, ``@file#7:channel=document``.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from constraintrot.attacks.definition import Chosen, parse_settings
from constraintrot.attacks.search_results import journal
from constraintrot.attacks.search_results.trial import Query, as_attack, best
from constraintrot.errors import ParameterError

_WRITTEN = re.compile(
    r"(?:@|file:)(?P<path>.+?)(?:#(?P<query>\d+))?(?::(?P<listed>[^:/\\]*=[^:/\\]*))?", re.DOTALL
)


def found_attack(text: str) -> Chosen:
    """The attack of ``@file``, as ``attacks.read`` reads it.

    Raises:
        ParameterError: the file is missing, cut short, of another version or
            holds no such prompt; or its search found nothing that worked.
    """
    match = _WRITTEN.fullmatch(text.strip())
    if match is None:
        raise ParameterError(f"attack {text!r} names no file; write @FILE, or @FILE#7 for a prompt")
    search = journal.read(Path(match["path"]))
    query = _query(search, match["query"])
    name = f"@{match['path']}" + (f"#{query.number}" if match["query"] else "")
    settings = search.settings
    found = as_attack(
        name, query.candidate, settings.channel, settings.position, settings.knowledge
    )
    return replace(
        found,
        settings=parse_settings(name, found.attack, match["listed"]),
        searched=dict.fromkeys(settings.families, settings.seeds),
    )


def _query(search: journal.Journal, number: str | None) -> Query:
    history = search.history()
    if number is not None:
        query = next((one for one in history if one.number == int(number)), None)
        if query is None or not query.candidate.text:
            raise ParameterError(
                f"{search.path} holds no prompt {number}; it has 1 to {len(history)}"
            )
        return query
    query = best(history)
    if query is None:
        raise ParameterError(f"{search.path} holds no prompt at all, so there is nothing to play")
    if not query.broken:
        raise ParameterError(
            f"the search of {search.path} found no attack: 0 successes in {len(history)} prompts;"
            f" @{search.path}#{query.number} plays the one that came closest"
        )
    return query
