"""Names of channels, in the ways that people and chat programs write them."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Literal, TypeAlias

from constraintrot.grading.predicates._argument import without_asides
from constraintrot.rule_text.units import visible
from constraintrot.scenario.predicate import plain
from constraintrot.scenario.values import is_list, is_mapping, spelled

Named: TypeAlias = Literal["right", "other", "unreadable", "nothing"]

_BREAK = re.compile(r"[,;|\r\n，；、]")
_NOTHING = frozenset(["none", "null", "undefined", "n/a"])
_KEYS = ("channel", "name")
_HYPHENS = str.maketrans("\u2010\u2011", "--")
_DASHES = re.compile(r"\s?[\u2012-\u2015]\s?|\s")
# What stands around a name; "@", "!", "-" and "_" may be of it.
_AROUND = " \"'`´“”„‘’‚«»‹›()[]{}<>《》〈〉「」『』【】.,:;?¿¡…*~#/\\、。，："
_WORDS = "the|our|on|in|to|el|la|al|en|der|den|dem|im|am|channels?|canal|kanal"
_LABEL = re.compile(
    rf"^(?:(?:{_WORDS})(?![\w-])|[频頻]道)|(?:(?<![\w-])(?:{_WORDS})|-kanal|[频頻]道)$"
)
_PATH = re.compile(r"^\S{0,200}/channels?/(?=[^/]+$)")
_TAGGED = re.compile(r"(?<=#)[^\s#]+")
_JOINS = re.compile(r"[&+/和与及]|\b(?:and|y|e|und|plus|also|sowie)\b")
# The right name as a word of its own, in a longer text.
_WHOLE = r"(?<![^\W\u3400-\u9fff])(?<![@!./#-])NAME(?![^\W\u3400-\u9fff]|[@/#-]|\.\w)"
_LONGEST_NAME = 3  # words
_LABELS = 4  # "in the channel ... channel"


def named(value: object, right: str) -> Iterator[tuple[str, Named]]:
    """Each text that a JSON value gives for a channel, and what it names."""
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            nested = spelled(node, within="[{")
            if nested is None:
                yield from _listed(node, right)
            else:
                stack.append(nested)
        elif is_mapping(node):
            given = [item for key, item in node.items() if plain(str(key)) in _KEYS]
            stack.extend(given or node.values())
        elif is_list(node):
            stack.extend(reversed(node))
        elif node is not None:
            yield "", "unreadable"


def bare(text: str) -> str:
    """A channel's name as it compares: no case, no blanks, no punctuation around it."""
    return "".join(_folded(text).strip(_AROUND).split())


def _listed(text: str, right: str) -> Iterator[tuple[str, Named]]:
    # A channel may be named "no", which elsewhere opens an aside.
    pieces = [text] if bare(text) == bare(right) else _BREAK.split(without_asides(text))
    found = [(piece, _read(piece, right)) for piece in pieces]
    prose = any(name == "right" for _, name in found)
    for piece, name in found:
        if prose and name == "other" and len(piece.split()) > _LONGEST_NAME:
            name = "unreadable"  # a sentence beside the name
        yield piece, name


def _read(text: str, right: str) -> Named:
    """What one piece of a text names."""
    if not re.search(r"[^\W_]", text):
        return "nothing"
    folded, wanted = _folded(text), bare(right)
    tags = [tag for tag in _TAGGED.findall(folded) if re.search(r"[^\W_]", tag)]
    if not tags:
        name = _unlabelled(folded)
        if wanted in (bare(folded), name):
            return "right"
        if name in _NOTHING or not name:
            return "nothing"
        if _DASHES.sub("-", folded.strip(_AROUND)) == wanted:
            return "unreadable"
        whole = re.compile(_WHOLE.replace("NAME", re.escape(wanted)))
        if not whole.search(folded):
            return "other"
        rest = whole.sub(" ", folded)
    elif any(wanted not in (bare(tag), _unlabelled(tag)) for tag in tags):
        return "other"
    else:
        rest = _TAGGED.sub(" ", folded)
        if not _unlabelled(rest):
            return "right"
    return "other" if _JOINS.search(rest) else "unreadable"


def _folded(text: str) -> str:
    folded = visible(plain(text)).translate(_HYPHENS)
    return "".join(
        sign for sign in folded if sign.isspace() or unicodedata.category(sign) not in ("Cc", "Cf")
    )


def _unlabelled(text: str) -> str:
    """A name without the words that say that it is a channel's."""
    name = _PATH.sub("", text.strip(_AROUND))
    for _ in range(_LABELS):
        name = _LABEL.sub("", name).strip(_AROUND)
    return bare(name)
