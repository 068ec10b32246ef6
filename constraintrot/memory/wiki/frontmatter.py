"""YAML frontmatter: written as JSON, read in any form, and changed line by line."""

import contextlib
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from constraintrot.documents import yaml_data
from constraintrot.errors import ScenarioError
from constraintrot.memory.wiki.names import WikiError, one_line

_FRONTMATTER: Final = re.compile(r"\A---\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
# A person may write some; they make nothing large.
_MOST_ALIASES: Final = 8
_KEY: Final = re.compile(r"([A-Za-z_][\w -]*): +(.+)")
# A line that begins a field, or a comment.
_TOP: Final = re.compile(
    r"""(?:"([^"]*)"|'([^']*)'|([^\s"'#?&{\[-][^:]*?))[ \t]*:(?=[ \t]|$) | \#""", re.VERBOSE
)


def frontmatter(fields: Mapping[str, Any]) -> str:
    """Return YAML frontmatter; each value is JSON on one line, which is also YAML."""
    text = "\n".join(_line(key, value) for key, value in fields.items())
    return f"---\n{text}\n---\n"


def split(text: str) -> tuple[dict[str, Any], str]:
    """Return the fields of the frontmatter, and the body."""
    block, body = parts(text)
    return read(block), body


def parts(text: str) -> tuple[str, str]:
    """Return the lines of the frontmatter as they are written, and the body."""
    found = _FRONTMATTER.match(text)
    if found is None:
        raise WikiError("it has no frontmatter")
    return found[1], text[found.end() :]


def changed(block: str, changes: dict[str, Any]) -> str:
    """Return frontmatter with new values for some fields; every other line stays as it is."""
    left, lines = dict(changes), list[str]()
    keep = True
    for line in block.removesuffix("\n").split("\n"):
        if found := _TOP.match(line):
            key = next(filter(None, found.groups()), "")
            keep = key not in changes
            if key in left:
                lines.append(_line(key, left.pop(key)))
        if keep:
            lines.append(line)
    text = "\n".join([*lines, *(_line(key, value) for key, value in left.items())])
    wanted = read(block) | changes
    with contextlib.suppress(WikiError):
        if read(text) == wanted:
            return f"---\n{text}\n---\n"
    # Some forms of YAML have several fields on a line.
    return frontmatter(wanted)


def _line(key: str, value: Any) -> str:
    line = f"{key}: {json.dumps(value, ensure_ascii=False, default=str)}"
    # JSON leaves these as they are, and YAML takes them for line ends.
    return line.replace("\u2028", " ").replace("\u2029", " ").replace("\x85", " ")


def read(block: str) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for line in block.splitlines():
        one = _KEY.fullmatch(line)
        try:
            fields[one[1]] = json.loads(one[2])  # type: ignore[index]
        except (TypeError, ValueError):
            # Somebody's editor wrote it, in another form of YAML.
            return _yaml(block)
    return fields


def _yaml(block: str) -> dict[str, Any]:
    try:
        found = yaml_data(block, "the frontmatter", aliases=_MOST_ALIASES)
    except ScenarioError as error:
        raise WikiError(one_line(str(error), 160)) from error
    if not isinstance(found, dict):
        raise WikiError("the frontmatter is no list of fields")
    return {str(key): value for key, value in found.items()}
