"""Recognises what a policy's sentence is about, by the words that such conditions have."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from constraintrot.authoring.doubts import approval, asked, beyond, gaps, unread
from constraintrot.authoring.limits import compared
from constraintrot.authoring.places import host, path
from constraintrot.authoring.rule import TODO, Extra, Rule, unknown
from constraintrot.authoring.sentence import Sentence
from constraintrot.authoring.statements import statement
from constraintrot.authoring.stock_texts import stock_texts
from constraintrot.authoring.times import hours, week
from constraintrot.rule_text.language_words import LANGUAGES
from constraintrot.scenario.template import Value

_THING = r"[`'\"#@\w./*-]+"
_SET = re.compile(
    r"\s?(?P<way>other than|outside(?: of)?|except(?: for| to)?|but|to|in|into|on|onto|with|from|via|through|using|use)"
    rf" (?P<things>{_THING}(?: {_THING})*(?:(?:,| or| and) {_THING}(?: {_THING})*)*)$",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r"(?:(?<=^say)|(?<=^write)|(?<=^use)|(?<=^mention)|(?<=^include)|(?<= with)|(?<= contain)|(?<= in))"
    r"(?: the (?:words?|phrase|text|line))? [\"“‘'`](?P<words>[^\"”’`]{2,80})[\"”’'`]",
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
    """Return the rule of a sentence; its ``open`` says what is not understood for sure.

    The sentence is laid out in conditions, none over another; what stands before, between and
    behind them must add nothing to the rule, or it is asked about.
    """
    base, leave, doubts = approval(sentence)
    parts = _laid_out(base)
    rule = _joined(base, parts) if parts else unknown()
    if leave is not None:
        rule = replace(rule, extras=[*rule.extras, leave])
        doubts += (
            [] if parts else [asked("an approval alone, which no request may mention", "approval")]
        )
    doubts += [*rule.open, *unread(base, parts)]
    return replace(rule, open=list(dict.fromkeys(doubts)))


def _laid_out(sentence: Sentence) -> list[Rule]:
    """The conditions of a phrase in its order; those before "only" say where the limit holds."""
    if sentence.scope:
        scope, phrase = sentence.scope, sentence.phrase
        within = replace(sentence, mood="never", phrase=phrase[:scope], scope=0)
        limited = replace(sentence, phrase=phrase[scope:], scope=0)
        if where := _laid_out(within):
            return [*where, *(one.moved(scope) for one in _laid_out(limited))]
    found = next((rule for read in READERS if (rule := read(sentence))), None)
    if found is None:
        return []
    before = replace(sentence, phrase=sentence.phrase[: found.start].rstrip(" ,"))
    after = replace(sentence, phrase=sentence.phrase[found.end :])
    behind = [one.moved(found.end) for one in _laid_out(after)]
    return [*_laid_out(before), found, *behind]


def _joined(sentence: Sentence, parts: Sequence[Rule]) -> Rule:
    """One rule of several conditions: the last one varies, and the others are as they forbid."""
    *fixed, varied = parts
    either = any(gap == "or" for gap in gaps(sentence, parts))
    given = [part.right[0] if either else part.wrong[0] for part in fixed]
    says = [
        part.says.replace("{value}", str(value)) for part, value in zip(fixed, given, strict=True)
    ]
    extras = [
        Extra(part.argument, part.schema, part.predicate, value, part.phrases)
        for part, value in zip(fixed, given, strict=True)
    ]
    return replace(
        varied,
        start=parts[0].start,
        says=", ".join([*says, varied.says]),
        extras=[*extras, *varied.extras],
        either=either,
        action=varied.action if len(parts) == 1 else "",
        open=[doubt for part in parts for doubt in part.open],
    )


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


def _quoted(sentence: Sentence) -> Rule | None:
    """Words in quotes that a text must, or must not, hold."""
    found = _QUOTED.search(sentence.phrase)
    if not found or sentence.mood not in ("never", "always"):
        return None
    words, forbidden = found["words"], sentence.mood == "never"
    notes = _NOTES["English"]
    held: list[Value] = [f"{note} {words}" for note in notes]
    return Rule(
        kind="a text",
        predicate={
            "type": "text_matching",
            "forbidden" if forbidden else "required": rf"(?<!\w){re.escape(words)}(?!\w)",
        },
        argument="body",
        schema={"type": "string", "description": "The text."},
        says='the text is "{value}"',
        wrong=held if forbidden else notes,
        right=notes if forbidden else held,
        start=found.start(),
        end=found.end(),
        phrases=[words],
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
    doubts = beyond(sentence, but, named)
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
    mine: list[Value] = [named[at % len(named)].replace("*", "2.4") for at in range(count)]
    theirs: list[Value] = [others[at % len(others)] for at in range(count)]
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


def spellings(name: str) -> list[str]:
    """A name as it is written and as others write it: ``prod`` of "production"."""
    groups = [group for table in _kinds().values() for group in table.get("aliases", ())]
    same: list[str] = next((group for group in groups if name.casefold() in group), [])
    return list(dict.fromkeys([name, *same]))


def _kinds() -> Mapping[str, Mapping[str, Any]]:
    kinds: Mapping[str, Mapping[str, Any]] = stock_texts()["kinds"]
    return kinds


READERS: tuple[Callable[[Sentence], Rule | None], ...] = (
    host, _quoted, path, compared, hours, week, _language, statement, _set,
)  # fmt: skip
