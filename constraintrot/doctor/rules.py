"""The rules to search for, from files or from a session."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import Field, ValidationError

from constraintrot.coding_agents.sessions.events import Channel
from constraintrot.doctor.breaches import Breach
from constraintrot.documents import dotted, faults, read_text, yaml_data
from constraintrot.errors import ConstraintRotError
from constraintrot.redaction import MASK, Masker
from constraintrot.rule_text.extraction import is_ended
from constraintrot.rule_text.said import IMPERATIVE, has_force, ruling, said
from constraintrot.rule_text.units import fold
from constraintrot.rule_text.words import telling
from constraintrot.scenario import tool_files
from constraintrot.scenario.sections import Tool
from constraintrot.scenario.template import Value
from constraintrot.strict import Strict


class _Request(Strict):
    says: str = Field(min_length=3)
    tools: str | list[dict[str, Any]] = Field(min_length=1)


@dataclass(frozen=True)
class Trigger:
    """A request that cannot be done without breaking the rule."""

    says: str
    tools: tuple[Tool, ...]  # the tools that the model is offered; they are never executed

    @property
    def characters(self) -> int:
        return len(self.says) + sum(
            len(one.name) + len(one.description) + len(str(one.parameters)) for one in self.tools
        )

    @classmethod
    def read(cls, told: Mapping[str, Any], where: str, folder: Path) -> Trigger:
        """Read ``says`` and ``tools``: definitions, or the name of a file of them in ``folder``."""
        try:
            written = _Request.model_validate(told)
        except ValidationError as error:
            place, said = faults(error)[0]
            raise ConstraintRotError(
                f"{where}: {dotted(('trigger', *place))}: {said}; a trigger has says (a request),"
                " and tools (definitions of tools, or the name of a file of them)"
            ) from error
        if isinstance(written.tools, str):
            tools = tool_files.read(folder / written.tools)
        else:
            tools = tool_files.defined(written.tools, f"{where}: trigger.tools")
        return cls(" ".join(written.says.split()), tuple(tools))


# A longer text is a document, not a rule.
LONGEST_RULE = 2_000
MOST_RULES = 1_000


# Longest rule that is shown whole; of a longer one the ruling clause is shown.
_SHOWN_WHOLE = 100
_MARKS = re.compile(r"\*\*|__|[`\"“”„«»]")
# "No secrets in logs", "Only Anna may approve".
_BARE = re.compile(r"(?:no|only|never|always|nunca|solo|s[oó]lo|kein\w*|nur)\s", re.IGNORECASE)
_ITEM = re.compile(r"\s*+(?:[-*+]|\d{1,3}[.)])\s++(?=\S)")


@dataclass(frozen=True)
class Rule:
    """A rule, and the means to find it in a text."""

    name: str  # short, unique in a report
    text: str  # as it was given
    # Values that a text has to contain; empty if none are declared.
    slots: Mapping[str, Sequence[Value]] = field(default_factory=dict[str, Sequence[Value]])
    breach: Breach | None = None  # the test whether a call breaks it; None if none is declared
    trigger: Trigger | None = None  # a request that would break it, to try a model with
    file: str = ""  # the rules file that it is from; empty if it was found in a session
    channel: Channel | None = None  # how it came into the session; None for a rule from a file
    origin: str = ""  # the file or tool that brought it into the session
    line: int = 0  # line of the session that stated it first
    time: str = ""
    session: str = ""

    @property
    def is_telling(self) -> bool:
        """Whether its slots or words tell what it is about, so that a text can be searched for it."""
        return bool(self.slots or telling(self.ruling))

    @cached_property
    def ruling(self) -> str:
        """Its text without the introduction and the reason."""
        return ruling(self.text)

    @property
    def clause(self) -> str:
        """The text to show: the whole rule, or the ruling clause of a long one."""
        return self.text if len(self.text) <= _SHOWN_WHOLE else self.ruling

    @property
    def folded(self) -> str:
        return folded(self.text)


def folded(text: str) -> str:
    """Return a text without case, extra blanks, list marks, emphasis, quotes and final stop."""
    return re.sub(r"\s+", " ", _MARKS.sub("", text)).strip(" -*•.!。！").casefold()


class _Written(Strict):
    text: str = Field(min_length=3, max_length=LONGEST_RULE)
    id: str = ""
    slots: dict[str, list[Value]] = Field(default_factory=dict)
    breach: dict[str, Any] | None = None
    trigger: dict[str, Any] | None = None


class _File(Strict):
    rules: list[_Written | Annotated[str, Field(max_length=LONGEST_RULE)]] = Field(
        min_length=1, max_length=MOST_RULES
    )


def read(path: Path) -> list[Rule]:
    """Read the rules of a file: YAML, or Markdown such as AGENTS.md."""
    text = read_text(path, error=ConstraintRotError)
    found = (
        _from_yaml(path, text)
        if path.suffix.lower() in (".yaml", ".yml")
        else _from_markdown(path, text)
    )
    if not found:
        raise ConstraintRotError(
            f"{path}: no rule found in it; write each as a list item that says what must or must"
            " not be done, or write a rules.yaml"
        )
    return found


def _from_yaml(path: Path, text: str) -> list[Rule]:
    told = yaml_data(text, str(path), ConstraintRotError)
    try:
        written = _File.model_validate({"rules": told} if isinstance(told, list) else told)
    except ValidationError as error:
        place, said = faults(error)[0]
        raise ConstraintRotError(
            f"{path}: {dotted(place)}: {said}; a rule is a text, or a mapping with text and"
            " optionally id, slots, breach, trigger"
        ) from error
    found: list[Rule] = []
    for one in written.rules:
        rule = _Written(text=one) if isinstance(one, str) else one
        name = rule.id or named(rule.text, [other.name for other in found])
        if name in [other.name for other in found]:
            raise ConstraintRotError(f"{path}: two rules have the id {name}")
        found.append(_rule(rule, name, path))
    return found


def _rule(written: _Written, name: str, path: Path) -> Rule:
    where = f"{path}: {name}"
    breach = None if written.breach is None else Breach.read(written.breach, where)
    trigger = None if written.trigger is None else Trigger.read(written.trigger, where, path.parent)
    if trigger is not None and breach is None:
        raise ConstraintRotError(
            f"{where}: a trigger needs a breach, which says what call breaks the rule"
        )
    text = " ".join(written.text.split())
    return Rule(name, text, cast(Any, written.slots), breach, trigger, str(path))


def _from_markdown(path: Path, text: str) -> list[Rule]:
    found: dict[str, Rule] = {}
    names: set[str] = set()
    for told in _items(text):
        if len(told) > LONGEST_RULE:
            raise ConstraintRotError(
                f"{path}: a rule of {len(told):,} characters ({told[:40].strip()!r} ...); at most"
                f" {LONGEST_RULE:,} are read, so write it shorter or as several"
            )
        if folded(told) in found:
            continue
        if len(found) == MOST_RULES:
            raise ConstraintRotError(f"{path}: more than {MOST_RULES:,} rules; give fewer")
        name = named(told, names)
        names.add(name)
        found[folded(told)] = Rule(name, told, file=str(path))
    return list(found.values())


def _items(text: str) -> Iterator[str]:
    """Yield list items that state rules, and further rules that the text says."""
    taken: set[str] = set()
    lines = list(_in_force(text))
    for line in lines:
        told = _item(line)
        if told and _is_rule(told):
            taken.add(folded(told))
            yield told
    seen: set[str] = set()
    for told in said("\n".join(lines)):
        plain = folded(told)
        if plain in seen:
            continue
        seen.add(plain)
        if not any(plain in item or item in plain for item in taken):
            yield told


def _in_force(text: str) -> Iterator[str]:
    """Yield the lines of a text without code, and without what stands under "Old rules"."""
    ended = False
    for line in re.sub(r"```.*?(?:```|\Z)", "", text, flags=re.DOTALL).splitlines():
        if line.startswith("#") or line.rstrip().endswith((":", "：")):
            ended = is_ended(fold(line))
        if not ended:
            yield line


def _item(line: str) -> str:
    """Return a list item of three words or more; else an empty text."""
    item = _ITEM.match(line.rstrip())
    told = re.sub(r"\*\*|__", "", line[item.end() :].rstrip()) if item else ""
    return told if len(told.split()) > 2 else ""


def passed_over(path: Path, rules: Sequence[Rule]) -> list[str]:
    """Return the list items of a Markdown file that were not read as rules."""
    if path.suffix.lower() in (".yaml", ".yml"):
        return []
    known = {rule.folded for rule in rules}
    items = map(_item, read_text(path, error=ConstraintRotError).splitlines())
    return [one for one in items if one and folded(one) not in known]


def _is_rule(item: str) -> bool:
    if item.endswith("?"):
        return False
    opening = re.sub(r"^\W+", "", item)
    return (
        IMPERATIVE.match(opening) is not None
        or _BARE.match(opening) is not None
        or has_force(fold(item))
    )


def named(text: str, taken: Collection[str]) -> str:
    """Return a short unused name from the words of a rule."""
    words = re.findall(r"[\w]+", Masker(library=False)(text).replace(MASK, " ").casefold())
    telling = [word for word in words if len(word) > 2 and word not in ("the", "and", "any", "for")]
    return unused("-".join(telling[:4])[:40] or "rule", taken)


def unused(name: str, taken: Collection[str]) -> str:
    """Return a name, with a number appended if it is taken."""
    found, number = name, 2
    while found in taken:
        found, number = f"{name}-{number}", number + 1
    return found
