"""Recognises what a policy's sentence is about, by the words that such conditions have."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from constraintrot.authoring.doubts import approval, asked, unread
from constraintrot.authoring.limits import compared
from constraintrot.authoring.places import host, path
from constraintrot.authoring.rule import TODO, Rule, unknown
from constraintrot.authoring.sentence import Sentence
from constraintrot.authoring.statements import statement
from constraintrot.authoring.stock_texts import stock_texts
from constraintrot.authoring.times import hours, week
from constraintrot.rule_text.language_words import LANGUAGES

_SET = re.compile(
    r"\s?(?P<way>other than|outside(?: of)?|except(?: for| to)?|but|to|in|into|on|onto|with|from|via|through|using|use)"
    r" (?P<things>[`'\"#@\w./-]+(?: [`'\"#@\w./-]+)*(?:(?:,| or| and) [`'\"#@\w./-]+(?: [`'\"#@\w./-]+)*)*)$",
    re.IGNORECASE,
)
# What the same short note says in the languages that a draft can ask for.
_NOTES = {
    "English": ["The delivery arrived this morning and everything was in good order.", "We have moved our meeting to Thursday because the room was taken.", "The new shelves were put up yesterday and they look very good."],
    "German": ["Die Lieferung ist heute Morgen angekommen und alles war in bester Ordnung.", "Wir haben unser Treffen auf Donnerstag verschoben, weil der Raum belegt war.", "Die neuen Regale wurden gestern aufgebaut und sehen sehr gut aus."],
    "Spanish": ["El pedido llegó esta mañana y todo estaba en perfecto estado.", "Hemos pasado nuestra reunión al jueves porque la sala estaba ocupada.", "Ayer montaron las estanterías nuevas y han quedado muy bien."],
    "French": ["La livraison est arrivée ce matin et tout était en parfait état.", "Nous avons déplacé notre réunion à jeudi parce que la salle était prise.", "Les nouvelles étagères ont été montées hier et elles sont très belles."],
}  # fmt: skip


def condition(sentence: Sentence) -> Rule:
    """Return the rule of a sentence; its ``open`` says what is not understood for sure."""
    base, extra, doubts = approval(sentence)
    found = next((rule for read in READERS if (rule := read(base))), None)
    rule = found or unknown()
    if found is not None and extra is not None:
        rule = replace(rule, extras=[*rule.extras, extra])
    if found is None and extra is not None:
        doubts.append(asked("an approval alone, which no request may mention", "approval"))
    others = [read for read in READERS if found is None or read(base) != found]
    doubts += [*rule.open, *unread(base, rule, others)]
    return replace(rule, open=list(dict.fromkeys(doubts)))


def _language(sentence: Sentence) -> Rule | None:
    """The language of a text."""
    found = re.search(
        rf"\b(?:other than|in|except) ({'|'.join(LANGUAGES)})\b", sentence.phrase, re.I
    )
    if not found:
        return None
    language = found[1].title()
    others = [name for name in _NOTES if name != language]
    forbidden = sentence.mood == "never" and not re.match("other|except", found[0], re.I)
    if forbidden or language not in _NOTES:
        return None
    notes = [_NOTES[others[at % len(others)]][at] for at in range(3)]
    start = re.search(r"(?: in)?(?: any)?(?: languages?)?$", sentence.phrase[: found.start()], re.I)
    return Rule(
        kind="a language",
        predicate={"type": "not_in_language", "language": language},
        argument="body",
        schema={"type": "string", "description": "The text."},
        says='the text is "{value}"',
        wrong=notes,
        right=_NOTES[language],
        start=start.start() if start else found.start(),
        end=found.end(),
        written=(found[1], "language"),
        values={"language": language},
        phrases=["{{language}}"],
    )


def _set(sentence: Sentence) -> Rule | None:
    """Names of one kind, such as regions or branches."""
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
    allowed = but or sentence.mood != "never"
    doubts = [] if sentence.mood in ("never", "only") and not (but and sentence.mood == "only") else [
        f"whether nothing but {', '.join(named)} is allowed; say 'Only ...' if so"
    ]  # fmt: skip
    does = "forbids" if allowed else "allows"
    if len(kinds) == 1:
        (kind,) = kinds
        table = _kinds()[kind]
        listed = list(dict.fromkeys(form for name in named for form in spellings(name)))
        others = [one for one in table["others"] if one not in listed]
    else:
        kind, listed, table = "target", named, {}
        doubts.append(f"which values the policy {does}, beside {', '.join(named)}")
        others = [f"{TODO}: a value that the policy {does}", f"{TODO}: another that it {does}"]
    count = max(len(others), len(named))
    mine = [named[at % len(named)] for at in range(count)]
    theirs = [others[at % len(others)] for at in range(count)]
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
    """The name in some words and its kind, where they are a name and a noun of its kind at most."""
    words = [word for word in thing.split() if word.casefold() not in ("the", "our", "a", "an")]
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
    like = re.search(r"[\d#@_./-]|(?<=.)[A-Z]", name) is not None or names[0] != name
    return (name, kind) if kind or like else None


def _is_of(name: str, table: Mapping[str, Any]) -> bool:
    known = {*table["others"], *(one for group in table.get("aliases", ()) for one in group)}
    return name.casefold() in known or re.fullmatch(table.get("like", "$^"), name) is not None


def spellings(name: str) -> list[str]:
    """A name as it is written and as others write it: ``prod`` of "production"."""
    groups = [group for table in _kinds().values() for group in table.get("aliases", ())]
    same: list[str] = next((group for group in groups if name.casefold() in group), [])
    return list(dict.fromkeys([name, *same]))


def _kinds() -> Mapping[str, Mapping[str, Any]]:
    kinds: Mapping[str, Mapping[str, Any]] = stock_texts()["kinds"]
    return kinds


READERS: tuple[Callable[[Sentence], Rule | None], ...] = (
    host, path, compared, hours, week, _language, statement, _set,
)  # fmt: skip
