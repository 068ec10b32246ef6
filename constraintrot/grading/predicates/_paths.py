"""Paths as they are written, and the plain paths that they may resolve to."""

import re
import unicodedata
from collections.abc import Iterator
from fnmatch import fnmatchcase
from urllib.parse import unquote

from constraintrot.rule_text.units import visible

Parts = tuple[str, ...]

_ROUNDS = 4  # of URL-decoding: each encoder on the way may add one
_EXPANSIONS = 128
_LONGEST_NAME = 1000

_OVERLONG = re.compile(r"%c0%(?:ae|af)|%u([0-9a-f]{4})", re.IGNORECASE)
_ESCAPES = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|([0-3][0-7]{2}))", re.IGNORECASE)
_HOME = re.compile(
    r"\$\{(?:HOME|PWD|OLDPWD)\b[^}]{0,80}\}|\$(?:env:)?(?:HOME|USERPROFILE|PWD|OLDPWD)\b"
    r"|%(?:HOME|USERPROFILE)%|\$\((?:pwd|echo ~)\)|`(?:pwd|echo ~)`",
    re.IGNORECASE,
)
_USER = re.compile(
    r"\$\{(?:USER|LOGNAME)\}|\$(?:USER|LOGNAME|USERNAME)\b|%USERNAME%|\$\(whoami\)|`whoami`",
    re.IGNORECASE,
)
_TILDE = re.compile(r"~([\w.+-]*)(?=/|$)")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{1,20}://[^/~$]{0,255}|file:|[\w.@-]{1,255}:(?=[/~$])", re.I)
_SUFFIX = re.compile(r"(?:::\$DATA|(?::\d{1,9}){1,2}|#[^/]{0,80})$", re.IGNORECASE)
_BRACES = re.compile(r"\{([^{}]*)\}")
_EXTENDED = re.compile(r"[?*+@!]\([^()/]*\)")


def spellings(text: str) -> list[str]:
    """Return the paths that a text may mean once it is decoded, itself included."""
    rounds = [text]
    for _ in range(_ROUNDS):
        decoded = unquote(_OVERLONG.sub(_overlong, rounds[-1]))
        if decoded == rounds[-1]:
            break
        rounds.append(decoded)
    found: dict[str, None] = {}
    for decoded in rounds:
        for whole in (decoded.partition("\0")[0], decoded.replace("\0", "")):
            folded = unicodedata.normalize("NFKC", visible(whole))
            found |= dict.fromkeys(_unescaped(folded))
    return [spelling for spelling in found if spelling]


def resolve(text: str, home: str) -> list[Parts]:
    """Return the absolute paths, by component, that one spelling may name.

    Braces give several; other wildcards stay as they are.
    """
    for _ in range(3):  # view-source:file:// and the like
        scheme = _SCHEME.match(text)
        if scheme:
            text = text[scheme.end() :]
            text = text.partition("?")[0] if "/" in scheme[0] else text
    user = home.rsplit("/", 1)[-1]
    text = _USER.sub(lambda _: user, _HOME.sub(lambda _: home, _SUFFIX.sub("", text)))
    return [_walk(_tilde(choice, home, user), home) for choice in _choices(text)]


def is_glob(name: str) -> bool:
    return re.search(r"[*?\[]", name) is not None


def fits(name: str, pattern: str) -> bool:
    """Return whether a name fits one component's wildcards."""
    if not is_glob(pattern):
        return name == pattern
    plain = re.sub(r"\[\[:\w+:\]\]", "?", pattern.replace("[^", "[!"))
    plain = re.sub(r"\*+", "*", plain)
    return len(plain) <= _LONGEST_NAME and fnmatchcase(name, plain)


def reaches(pattern: Parts, path: Parts) -> bool:
    """Return whether a pattern names a path; ``**`` is any depth."""
    fixed = [part for part in pattern if part != "**"]
    if len(fixed) > len(path) or (len(fixed) == len(pattern) != len(path)):
        return False
    # ends: the numbers of leading components of the path that the pattern can match so far.
    ends = {0}
    for at, part in enumerate(pattern):
        if part == "**":
            deep = set(range(min(ends), len(path) + 1))
            ends = deep if at < len(pattern) - 1 else deep | {len(path)}
        else:
            ends = {end + 1 for end in ends if end < len(path) and fits(path[end], part)}
        if not ends:
            return False
    return len(path) in ends


def _overlong(found: re.Match[str]) -> str:
    if found[1]:
        return chr(int(found[1], 16))
    return "." if found[0].casefold().endswith("ae") else "/"


def _unescaped(text: str) -> Iterator[str]:
    """Yield a text with its quotes and backslashes read as a shell, or as Windows, would."""
    text = text.strip().strip("\"'`").strip()
    bare = re.sub("[\"']", "", text)
    yield text
    yield bare
    if "\\" in bare:
        yield _ESCAPES.sub(lambda found: chr(_code(found)), bare).lstrip("$")
        yield re.sub(r"\\(.)", r"\1", bare)
        yield bare.replace("\\", "/")


def _code(found: re.Match[str]) -> int:
    return int(found[3], 8) if found[3] else int(found[1] or found[2], 16)


def _tilde(text: str, home: str, user: str) -> str:
    found = _TILDE.match(text)
    if not found:
        return text
    name = found[1]
    if name in ("", "+", "-", user):
        folder = home
    else:
        folder = "/root" if name == "root" else f"/home/{name}"
    return folder + text[found.end() :]


def _walk(text: str, home: str) -> Parts:
    """Return the components with ``.``, ``..`` and the links of ``/proc`` resolved."""
    start = [part for part in home.split("/") if part]
    parts: list[str] = [] if text.startswith("/") else list(start)
    for part in text.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in ("", ".", "..") and not (part == "**" and parts[-1:] == ["**"]):
            parts.append(part)
        if _is_link(parts):
            parts = list(start) if parts[-1] == "cwd" else []
    return tuple(parts)


def _is_link(parts: list[str]) -> bool:
    """Return whether this is ``/proc/<pid>/root`` or ``cwd``, of a process or a thread."""
    if len(parts) not in (3, 5) or parts[0] != "proc" or parts[-1] not in ("root", "cwd"):
        return False
    return len(parts) == 3 or parts[2] == "task"


def _choices(text: str) -> list[str]:
    """Return a text once for each choice of its braces; with wildcards if there are too many."""
    if "{" not in text and "(" not in text:
        return [text]
    pending = [_EXTENDED.sub("*", text)]
    done: list[str] = []
    for _ in range(_EXPANSIONS):
        if not pending:
            return done
        choice = pending.pop()
        found = _BRACES.search(choice)
        if not found:
            done.append(choice)
            continue
        before, after = choice[: found.start()], choice[found.end() :]
        pending += [before + option + after for option in _options(found[1])]
        if len(pending) > _EXPANSIONS:
            break
    for _ in range(_ROUNDS):
        text = _BRACES.sub("*", text)
    return [text]


def _options(inside: str) -> list[str]:
    if "," in inside:
        return inside.split(",")[: _EXPANSIONS + 1]
    if re.fullmatch(r"\w+\.\.\w+(?:\.\.\w+)?", inside):
        return ["?" if re.fullmatch(r"\w\.\.\w", inside) else "*"]
    return [f"\ue000{inside}\ue001"]  # no choice: braces that are part of the name
