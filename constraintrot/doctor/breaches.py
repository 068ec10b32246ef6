"""Breaches of a rule by a call: a pattern on its arguments, or a registered predicate; and drafts.

A draft is made of a rule of a common form: commands, pushes, package managers, paths, recipients. It
is shown and confirmed by somebody before any call is judged by it: a rule says more than its form does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator

from constraintrot.coding_agents.sessions.events import Call
from constraintrot.documents import dotted, faults
from constraintrot.errors import ConstraintRotError
from constraintrot.patterns import UserPattern
from constraintrot.redaction import beginning
from constraintrot.scenario.predicate import Predicate, predicate_from

# A call may write a whole file; a pattern is looked for in so much of it.
_LONGEST = 200_000


Written: TypeAlias = Annotated[UserPattern, BeforeValidator(lambda given: UserPattern(str(given)))]


class Pattern(BaseModel):
    """A call that breaks a rule, by regular expressions."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    tool: Written | None = None  # what the whole name of the tool matches; any tool by default
    argument: str = ""  # the argument that is read; all of them by default
    matches: Written | None = None  # what is found in the arguments of a call that breaks the rule
    # What is found in the arguments of one that does not, all the same.
    unless: Written | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Pattern:
        if self.tool is None and self.matches is None:
            raise ValueError("give tool, matches, or both")
        return self

    def broken_by(self, call: Call) -> str:
        """Why a call breaks the rule; empty if it does not."""
        if self.tool is not None and not self.tool.fullmatch(call.function):
            return ""
        text = _text(call.arguments, self.argument)
        if self.unless is not None and self.unless.search(text) is not None:
            return ""
        if self.matches is None:
            return f"{call.function} was called"
        found = self.matches.search(text)
        return "" if found is None else f"{call.function}: {beginning(found, 200)}"


@dataclass(frozen=True)
class Breach:
    """The test that tells whether a call breaks a rule."""

    broken_by: Callable[[Call], str]  # returns why a call breaks the rule; empty if it does not

    @classmethod
    def read(cls, told: Mapping[str, Any], where: str) -> Breach:
        """From a rules file: regular expressions, or a predicate that is named by ``type``."""
        try:
            if "type" in told:
                return cls(partial(_violates, predicate_from(told)))
            return cls(Pattern.model_validate(told).broken_by)
        except ValidationError as error:
            place, said = faults(error)[0]
            raise ConstraintRotError(f"{where}: {dotted(('breach', *place))}: {said}") from error
        except ConstraintRotError as error:
            raise ConstraintRotError(f"{where}: breach: {error}") from error


def _violates(predicate: Predicate, call: Call) -> str:
    finding = predicate.check(call.function, call.arguments)
    return finding.reason if finding.status == "violates" else ""


def _text(arguments: Mapping[str, Any], name: str) -> str:
    value: Any = arguments.get(name, "") if name else arguments
    if isinstance(value, str):
        return value[:_LONGEST]
    if isinstance(value, Mapping) and all(isinstance(one, str) for one in value.values()):
        return "\n".join(value.values())[:_LONGEST]
    return json.dumps(value, ensure_ascii=False, default=str)[:_LONGEST]


Told = dict[str, Any]
"""A ``breach`` as a rules file has it."""

_SHELL = "(?i)bash|shell|exec_command|run_shell_command|local_shell|container.exec|terminal"
_WRITES = (
    "(?i)write|write_file|edit|multi_?edit|replace|apply_patch|str_replace\\w*|notebookedit|create"
)
_FORBIDS = re.compile(
    r"\b(?:never|don't|do not|not|no|must not|may not|cannot|avoid|without|hands off|off[- ]limits|leave|stays?"
    r"|untouched|only|instead of|rather than|nie|niemals|nicht|kein\w*|nur|nunca|no|jam[aá]s|s[oó]lo)\b|[不禁勿别]",
    re.IGNORECASE,
)
# They turn a rule around, or leave something out of it, wherever they stand.
_TURNED = re.compile(
    r"\b(?:except\w*|exempt\w*|unless|without|outside|other than|(?:any|no)thing but|but not|if|when|until|before"
    r"|skip\w*|omit\w*|afraid|forget\w*|hesitate|fail\w*|not only|own|au(?:ss|ß)er\w*|ohne|vergiss|wenn|falls|bis"
    r"|sin|salvo|excepto|si|cuando|hasta)\b|除|如果|未经"
    r"|\b(?:never|not|don't)\b[^.;]*\b(?:leave|untouched|alone|read-only|instead|rather)\b",
    re.IGNORECASE,
)
# Before a command or a path, they make it what is to be done.
_INVERTS = re.compile(
    r"\b(?:always|(?<!read-)only|immer|nur|siempre|s[oó]lo)\b|\b(?:instead|rather)\b(?! (?:of|than))",
    re.IGNORECASE,
)
_INSTEAD_OF = re.compile(r"\b(?:instead of|rather than|statt)\b", re.IGNORECASE)
_CODE = re.compile(r"`([^`\n]{2,80})`")
_COMMAND = re.compile(
    r"(?:git|npm|pnpm|yarn|pip|docker|kubectl|terraform|rm|sudo|curl|make|cargo|go|psql|aws|gh|ssh|helm)\b"
)
_FORCE_PUSH = re.compile(r"\bforce[- ]?push\w*|push\w* (?:with )?--force", re.IGNORECASE)
_PUSH = re.compile(
    r"\b(?:push|commit|merge)\w*\b[^.;]{0,30}?\b(?:to|on|onto|into|auf|nach|a)\s+(?:the\s+)?`?([\w./-]*\w)`?",
    re.IGNORECASE,
)
# What stands before a command: a line's beginning (in JSON too), another command, a shell's option.
_RUN = (
    r"(?m)(?:^|\\n|[;&|(`]|\"(?:cmd|command|script|input)\": \"|-l?c[\"',\s]+"
    r"|\b(?:sudo|then|do|else|time|xargs|exec|nohup|env)\s|\b\w+=\S*\s)\s*"
)
# What stands behind a word of a command.
_END = r"(?:[\s\"'`);&|\\]|$)"
# The rest of one command.
_WITHIN = r"[^\n;&|]*"
_GIT_PUSH = r"git(?:\s+-[Cc]\s+\S+|\s+--[\w-]+(?:=\S+)?)*\s+push\b"
_FORCE = r"(?:--force(?:-with-lease)?\b|-[a-z]*f\b)"
_HEADS = "(?:refs/heads/)?"
_SHORT = re.compile("-[A-Za-z]{1,3}")
_TO_BRANCH = re.compile(r"\b(?:to|on|onto|auf|nach|a)\s+(?:the\s+)?`?([\w./-]*\w)`?", re.IGNORECASE)
_BRANCHES = frozenset(["main", "master", "develop", "release", "production", "prod", "trunk"])
_MANAGERS = ("npm", "pnpm", "yarn", "bun", "pip", "poetry", "uv", "conda")
_INSTEAD = re.compile(
    rf"\b(?:not|never|instead of|rather than|statt|nicht|kein|no)\s+((?:{'|'.join(_MANAGERS)})"
    rf"(?:(?:\s*,\s*|\s+(?:or|and|oder|und|o|y|nor)\s+)(?:{'|'.join(_MANAGERS)}))*)\b",
    re.IGNORECASE,
)
_PATH = re.compile(
    r"`?((?:[\w.@-]{1,200}/)+[\w.@*-]*|[\w-]{1,200}\.(?:lock|env|ya?ml|json|toml|sql|md)\b)`?"
)
_TOUCHES = re.compile(
    r"\b(?:touch\w*|edit\w*|chang\w+|modif\w+|untouched|hands off|off[- ]limits|leave\b|alone|write to|read-only"
    r"|anfassen|anger[uü]hrt|[aä]nder\w+|toc\w+|modific\w+)\b|修改|改动|碰",
    re.IGNORECASE,
)
_MAIL = re.compile(
    r"\b(?:e-?mails?|mails?|messages?|send|sent|correos?|recipients?)\b", re.IGNORECASE
)
_MAILBOX = re.compile(r"[\w.+-]@\w")
_DOMAIN = re.compile(
    r"\b(?:at|to|within|inside|@)\s*@?((?:[a-z0-9-]+\.)+[a-z]{2,})\b", re.IGNORECASE
)


def draft(rule: str) -> Told | None:
    # ``--force-with-lease`` is mostly what is to be used instead.
    if not _FORBIDS.search(rule) or _TURNED.search(rule) or "with-lease" in rule:
        return None
    return next((told for form in _FORMS if (told := form(rule)) is not None), None)


def _force_push(rule: str) -> Told | None:
    found = _FORCE_PUSH.search(rule)
    if found is None or _INVERTS.search(rule):
        return None
    branch = _TO_BRANCH.search(rule)
    if branch and not (branch[1] in _BRANCHES or "/" in branch[1]):
        return None
    # A plus sign before what is pushed forces it, too.
    if branch is None:
        return _shell(rf"{_GIT_PUSH}{_WITHIN}\s(?:{_FORCE}|\+\S)")
    name = rf"{_HEADS}{re.escape(branch[1])}"
    # A push that names no branch may be to this one.
    bare = rf"\s+{_FORCE}(?:\s+origin)?\s*(?:[\n;&|]|$)"
    ahead = rf"{_WITHIN}[\s:]{name}\s{_WITHIN}{_FORCE}"
    behind = rf"{_WITHIN}\s{_FORCE}{_WITHIN}[\s:]{name}{_END}"
    plus = rf"{_WITHIN}\s\+(?:[^\s:]+:)?{name}{_END}"
    return _shell(rf"{_GIT_PUSH}(?:{bare}|{ahead}|{behind}|{plus})")


def _manager(rule: str) -> Told | None:
    found = _INSTEAD.search(rule)
    if found is None:
        return None
    names = [one for one in _MANAGERS if re.search(rf"\b{one}\b", found[1], re.IGNORECASE)]
    return _shell(rf"(?:{'|'.join(names)})\s+(?:install|i|add|ci|run|remove|update)\b")


def _branch(rule: str) -> Told | None:
    found = _PUSH.search(rule)
    if found is None or not (found[1] in _BRANCHES or "/" in found[1]):
        return None
    if _INVERTS.search(rule, 0, found.start()):
        return None
    return _shell(rf"{_GIT_PUSH}{_WITHIN}(?:\s\+?|:){_HEADS}{re.escape(found[1])}{_END}")


def _command(rule: str) -> Told | None:
    code = list(_CODE.finditer(rule))
    # Of two commands one may be what is to be used instead.
    if len(code) != 1 or not _COMMAND.match(code[0][1]):
        return None
    if _INVERTS.search(rule, 0, code[0].start()) or _INSTEAD_OF.search(rule, code[0].end()):
        return None
    program, *words = code[0][1].split()
    options = program == "rm"
    said = [_options(one) if options and _SHORT.fullmatch(one) else re.escape(one) for one in words]
    return _shell(r"\s+".join([re.escape(program), *said]))


def _options(short: str) -> str:
    """A pattern of options of ``rm``: in any order, apart from each other, and among others."""
    letters = ["[rR]" if one in "rR" else one for one in short[1:]]
    between = r"[A-Za-z]*(?:\s+-[A-Za-z]*)?"
    orders = (between.join(order) for order in permutations(letters))
    return rf"-[A-Za-z]*(?:{'|'.join(orders)})[A-Za-z]*"


def _recipients(rule: str) -> Told | None:
    domains = dict.fromkeys(one.lower() for one in _DOMAIN.findall(rule))
    if (
        not _MAIL.search(rule)
        or len(domains) != 1
        or _MAILBOX.search(rule)
        or not re.search(r"\bonly\b|\bnur\b|\bs[oó]lo\b", rule, re.IGNORECASE)
    ):
        return None
    return {"type": "recipients_outside", "domain": next(iter(domains))}


def _path(rule: str) -> Told | None:
    found = _PATH.search(rule)
    if found is None or not _TOUCHES.search(rule) or _INVERTS.search(rule, 0, found.start()):
        return None
    path = re.escape(found[1].rstrip("/*.")).replace(r"\*", "[^/]*")
    # A whole argument, or the file of a patch: a text that is written may name the path.
    before = r"(?m)(?:^|^\*\*\* \w+ File: |path\": \")(?:[^\s\"]*/)?"
    return {"tool": _WRITES, "matches": rf"{before}(?:{path})(?:/[^\s\"]*)?(?:$|\")"}


def _shell(pattern: str) -> Told:
    """Return a draft for a command, where it is run: not in a quoted text, such as a message."""
    return {"tool": _SHELL, "matches": rf"{_RUN}(?:{pattern})"}


_FORMS: tuple[Callable[[str], Told | None], ...] = (
    _force_push, _manager, _branch, _command, _recipients, _path,
)  # fmt: skip
