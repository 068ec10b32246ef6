"""Bullets, the units of a playbook, and their form in a prompt.

A bullet is a small unit (a strategy, a fact, a pitfall or a constraint) with an identifier
and counters of how often it helped or harmed (ACE, section 3.1). In a prompt::

    ## email
    - [ema-00003] helpful=2 harmful=0 :: Attach the minutes as a PDF,
        not as a link.

A bullet's line and a section's line begin in the first column, and further lines of a text are
indented. So no text can begin another bullet or section.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias, get_args

from constraintrot.errors import ConstraintRotError

Kind: TypeAlias = Literal["strategy", "fact", "pitfall", "constraint"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
DEFAULT_SECTION: Final = "general"
LONGEST_TEXT: Final = 4_000
_LONGEST_SECTION: Final = 60
_INDENT: Final = "    "
# Every sign that str.splitlines takes for the end of a line.
_LINE_ENDS: Final = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_ID: Final = re.compile(r"\A(?P<prefix>[a-z]{3})-(?P<number>\d{5,})\Z", re.ASCII)
_BULLET: Final = re.compile(
    r"- \[(?P<id>[a-z]{3}-\d{5,})\] helpful=(?P<helpful>\d+) harmful=(?P<harmful>\d+) :: ?(?P<text>.*)",
    re.ASCII | re.DOTALL,
)


class PlaybookError(ConstraintRotError, ValueError):
    """A playbook refuses an argument or a file; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Bullet:
    """A bullet at one moment."""

    id: str  # a prefix from its first section, and a number that the playbook gives only once
    section: str  # its section's heading, one line
    text: str  # its text; line ends are newlines
    kind: Kind = "strategy"  # its kind. A constraint is never changed, merged or pruned.
    helpful: int = 0  # the number of times it was marked helpful
    harmful: int = 0  # the number of times it was marked harmful
    # Its sources, oldest first; a merged bullet has those of all its parts.
    sources: tuple[str, ...] = ()
    touched: int = 0  # number of the last delta that added, changed or counted it

    @property
    def number(self) -> int:
        """The number in the id; a later bullet has a larger one."""
        return int(self.id.rpartition("-")[2])

    @property
    def net(self) -> int:
        return self.helpful - self.harmful

    @property
    def constrains(self) -> bool:
        return self.kind == "constraint"

    def line(self) -> str:
        """Return the bullet as a prompt shows it, with a newline at its end."""
        text = self.text.replace("\n", f"\n{_INDENT}")
        return f"- [{self.id}] helpful={self.helpful} harmful={self.harmful} :: {text}\n"

    def plain(self) -> dict[str, Any]:
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return fields | {"sources": list(self.sources)}


def bullet_from(data: Mapping[str, Any]) -> Bullet:
    try:
        one = Bullet(**{**data, "sources": tuple(data["sources"])})
        counts = (one.helpful, one.harmful, one.touched)
        sound = (
            _ID.match(one.id)
            and one.text == checked_text(one.text)
            and one.section == checked_section(one.section)
            and one.kind in KINDS
            and all(type(count) is int and count >= 0 for count in counts)
            and all(isinstance(source, str) for source in one.sources)
        )
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise PlaybookError(f"{str(data)[:80]!r} is no bullet: {error}") from error
    if not sound:
        raise PlaybookError(f"{str(data)[:80]!r} is no bullet: a field has a value that none has")
    return one


def bullet_id(section: str, number: int) -> str:
    """Return the id of a bullet: three letters of its section, and its number."""
    return f"{_prefix(section)}-{number:05}"


def checked_text(text: object) -> str:
    """Return a bullet's text trimmed, with every line end as a newline."""
    if not isinstance(text, str):
        raise PlaybookError(f"a bullet's text is a string, not {type(text).__name__}")
    # Most texts are one printable line, without line ends to replace.
    plain = (text if text.isprintable() else _LINE_ENDS.sub("\n", text)).strip()
    if not 0 < len(plain) <= LONGEST_TEXT:
        raise PlaybookError(f"a bullet's text has 1 to {LONGEST_TEXT} characters, not {len(plain)}")
    try:
        if not plain.isascii():
            plain.encode()
    except UnicodeEncodeError:
        raise PlaybookError("a bullet's text holds a lone surrogate, which is no text") from None
    return plain


def checked_section(section: object) -> str:
    """Return a section's name on one line; ``general`` for an empty one."""
    if not isinstance(section, str):
        raise PlaybookError(f"a section is a string, not {type(section).__name__}")
    return _one_line(section)


@lru_cache(maxsize=1024)
def _prefix(section: str) -> str:
    letters = re.sub(r"[^a-z]", "", section.casefold())[:3]
    return f"{letters:b<3}" if letters else "bul"


@lru_cache(maxsize=1024)
def _one_line(section: str) -> str:
    plain = " ".join("".join(c if c.isprintable() else " " for c in section).split())
    return plain[:_LONGEST_SECTION].strip() or DEFAULT_SECTION


def rendered(bullets: Iterable[Bullet]) -> str:
    """Return bullets as a prompt shows them: by section, in the order of first appearance."""
    sections: dict[str, list[str]] = {}
    for bullet in bullets:
        sections.setdefault(bullet.section, []).append(bullet.line())
    return "".join(heading(name) + "".join(lines) for name, lines in sections.items())


def heading(section: str) -> str:
    return f"## {section}\n"


def read_rendered(text: str) -> Iterator[Bullet]:
    """Parse the bullets of a rendered playbook: id, section, text and counters.

    A prompt does not hold a bullet's kind and sources.
    """
    section, lines = "", list[str]()
    for line in text.removesuffix("\n").split("\n") if text else ():
        if line.startswith(_INDENT) and lines:
            lines.append(line.removeprefix(_INDENT))
            continue
        yield from _read(section, lines)
        lines = []
        if line.startswith("## "):
            section = line.removeprefix("## ")
        elif line.startswith("- ["):
            lines = [line]
        else:
            raise PlaybookError(f"{line[:60]!r} is neither a section nor a bullet")
    yield from _read(section, lines)


def _read(section: str, lines: list[str]) -> Iterator[Bullet]:
    if not lines:
        return
    found = _BULLET.fullmatch("\n".join(lines))
    if found is None:
        raise PlaybookError(f"{lines[0][:60]!r} is no bullet's line")
    yield Bullet(
        found["id"], section, found["text"], helpful=int(found["helpful"]),
        harmful=int(found["harmful"]),
    )  # fmt: skip
