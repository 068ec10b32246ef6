"""Recognition of names of one kind in a sentence: regions, branches, environments, channels."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from constraintrot.authoring.doubts import beyond
from constraintrot.authoring.rule import Rule
from constraintrot.authoring.sentence import Sentence
from constraintrot.documents import load
from constraintrot.scenario.template import Value


@cache
def stock_texts() -> Mapping[str, Any]:
    found: Mapping[str, Any] = load(Path(__file__).with_name("stock_texts.yaml"))
    return found


_THING = r"[`'\"#@\w./*-]+"
_SET = re.compile(
    r"\s?(?P<way>other than|outside(?: of)?|except(?: for| to)?|but|to|in|into|on|onto|with|from|via|through|using|use)"
    rf" (?P<things>{_THING}(?: {_THING})*(?:(?:,| or| and) {_THING}(?: {_THING})*)*)$",
    re.IGNORECASE,
)


def name(sentence: Sentence) -> Rule | None:
    starts = [at.start() for at in re.finditer(r"(?:^|\s)(?=\w)", sentence.phrase)]
    for found in filter(None, (_SET.match(sentence.phrase, at) for at in starts)):
        things = [thing for thing in re.split(r",| or | and ", found["things"]) if thing.strip()]
        if sentence.mood != "other" and all(names := [_name(thing) for thing in things]):
            return _named(sentence, found, [name for name in names if name])
    return None


def _named(sentence: Sentence, found: re.Match[str], names: list[tuple[str, str]]) -> Rule:
    named = [name for name, _ in names]
    kinds = {kind for _, kind in names if kind}
    but = re.match("other|out|exc|but", found["way"], re.I) is not None
    allowed = but == (sentence.mood == "never")
    doubts = beyond(sentence, but, named)
    does = "forbids" if allowed else "allows"
    if len(kinds) == 1:
        (kind,) = kinds
        table = _kinds()[kind]
        listed = list(dict.fromkeys(form for name in named for form in spellings(name)))
        others = [one for one in table["others"] if one not in listed]
        # "The default branch" and "customer-facing systems" are told by a property.
        doubts += [
            f"whether {name!r} is the {kind}'s own name; say it as a call names it"
            for name in named
            if not (
                _is_of(name, table)
                or re.search(r"[\d#@_./*]", name)
                or re.search(rf"[`'\"]{re.escape(name)}", sentence.phrase)
                or _uses(name, kind).search(sentence.called)
            )
        ]
    else:
        kind, listed, table = "target", named, {}
        doubts.append(f"which values the policy {does}, beside {', '.join(named)}")
        others = []
    count = max(len(others), len(named))
    mine: list[Value] = [named[at % len(named)].replace("*", "2.4") for at in range(count)]
    theirs: list[Value] = [others[at % len(others)] for at in range(count)] if others else []
    return Rule(
        kind=f"a {kind}",
        predicate={
            "type": table.get("predicate", "value_outside"),
            "allowed" if allowed else "forbidden": listed,
        },
        argument=kind,
        schema={"type": "string", "description": f"The {kind}."},
        says=f"the {kind} is {{value}}",
        wrong=theirs if allowed else mine,
        right=mine if allowed else theirs,
        start=found.start(),
        end=found.end(),
        phrases=listed,
        open=doubts,
        action="" if found.start() else "set this up",
    )


def _name(thing: str) -> tuple[str, str] | None:
    """Return the name in some words and its kind; None if they hold more than a name and a noun."""
    words = [
        word for word in thing.split() if word.casefold() not in ("the", "our", "a", "an", "any")
    ]
    nouns = {
        noun: kind for kind, table in _kinds().items() for noun in (kind, *table.get("nouns", ()))
    }
    kind = next(
        (nouns[low] for word in words if (low := word.casefold().removesuffix("s")) in nouns), ""
    )
    names = [word for word in words if word.casefold().removesuffix("s") not in nouns]
    if len(names) != 1:
        return None
    name = names[0].strip("`'\"")
    kind = kind or next((one for one, table in _kinds().items() if _is_of(name, table)), "")
    like = re.search(r"[\d#@_./*-]|(?<=.)[A-Z]", name) is not None or names[0] != name
    return (name, kind) if kind or like else None


def _is_of(name: str, table: Mapping[str, Any]) -> bool:
    known = {*table["others"], *(one for group in table.get("aliases", ()) for one in group)}
    return name.casefold() in known or re.fullmatch(table.get("like", "$^"), name) is not None


def _uses(name: str, kind: str) -> re.Pattern[str]:
    """Return what an argument's line holds that names ``name`` as one of its kind.

    A word of a text or of a file that is written says nothing of a branch of this name.
    """
    told = re.escape(name)
    nouns = f"(?i:{'|'.join((kind, *_kinds()[kind].get('nouns', ())))})"
    git = rf"|\bgit (?:push|pull|fetch|switch|checkout|merge|rebase)\b[^;&|]*?[\s:]{told}"
    option = rf"\s--?[\w-]*{nouns}[= ]{told}"
    return re.compile(
        rf"^[\w-]*{nouns}(?:_?name)?=#?{told}$"
        rf"|^(?:command|cmd)=(?=[^'\"]*$).*?(?:{option}{git if kind == 'branch' else ''})(?![\w./:-])",
        re.MULTILINE,
    )


def spellings(name: str) -> list[str]:
    """Return a name and its aliases, such as ``prod`` for "production"."""
    groups = [group for table in _kinds().values() for group in table.get("aliases", ())]
    same: list[str] = next((group for group in groups if name.casefold() in group), [])
    return list(dict.fromkeys([name, *same]))


def _kinds() -> Mapping[str, Mapping[str, Any]]:
    kinds: Mapping[str, Mapping[str, Any]] = stock_texts()["kinds"]
    return kinds
