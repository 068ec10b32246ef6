"""Addresses in a text, with every domain that some mail program reads in each of them.

Mail programs differ on comments, quotes, routes and several ``@``, so the text is not parsed
to one reading. Only parts that every program skips (a well-formed quoted display name, a
comment beside an address) are removed, and each remaining domain counts.
"""

import re
import unicodedata
from collections.abc import Iterator
from email.errors import HeaderParseError
from email.header import decode_header
from functools import lru_cache
from html import unescape
from urllib.parse import parse_qsl, unquote

import idna

_LISTS = frozenset(["to", "cc", "bcc"])

# Every repeat below is bounded or cannot overlap with its successor, so matching takes
# linear time. Longer quotes and comments are not skipped.
_DISPLAY = re.compile(
    r'"((?:[^"\\]|\\.){0,320})"(?=\s?(?:\([^()]{0,320}\)\s?)?<[^<>@]{1,320}@[^<>]{1,320}>)'
)
_COMMENT = re.compile(r"\(([^()]{0,320})\)")
_MAILTO = re.compile(r"mailto:([^\s<>\"]*)", re.I)
_QUERY = re.compile(r"\?(?=(?:to|cc|bcc|subject|body)=)([^\s<>\"]*)", re.I)
_AT = re.compile(r"[ \n]?@[ \n]?")
_LIST_BREAK = re.compile(r"[/|&](?=[^\s,;<>/|&@]{1,320}@)")
# A colon or a percent sign ends a domain unless another domain follows.
_DOMAIN = re.compile(
    r"@(\[[^\]\s]{0,80}\]|(?:[^\s,;<>()@\"\[\]{}|:\\%、《》「」【】«»]"
    r"|[:%](?=[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}(?![\w.+%@-])))*)"
)
_ENCODED = re.compile(r"=\?[^\s?]{1,40}\?[bq]\?[^\s?]{0,400}\?=", re.I)
_EDGES = "'`*_!?.,\\/~“”‘’…。、《》「」【】«»"
_WINDOW = 320


def addresses(text: str) -> Iterator[tuple[str, str]]:
    """Yield each local part in a text with every domain that some reading gives it."""
    for reading in _readings(text):
        for found in _DOMAIN.finditer(reading):
            domain = found[1].rstrip(_EDGES).lstrip(_EDGES.replace(".", ""))
            if not domain:
                continue
            before = reading[max(0, found.start() - _WINDOW) : found.start()].rstrip("@")
            local = re.split(r"[\s,;<>:()@]", before)[-1].strip(_EDGES)
            if local or "." in domain:  # else a handle, as in "@dana"
                yield local, domain
            for host in _relays(local):
                yield local, host


def _relays(local: str) -> list[str]:
    """Return the relay hosts in a local part: ``user%host`` and ``host!user``."""
    hops = local.split("%")[1:] + local.split("!")[:-1]
    return [hop for hop in hops if "." in hop.strip(".")]


def _readings(text: str) -> Iterator[str]:
    """Yield the text as mail programs may see it, decoded until nothing changes."""
    seen: set[str] = set()
    waiting = [text]
    while waiting and len(seen) < 16:
        raw = waiting.pop()
        if raw in seen:
            continue
        seen.add(raw)
        linked = _unlinked(raw)
        yield _bare(as_seen(linked))
        if any(ord(sign) < 32 for sign in linked):
            yield _bare(as_seen(linked, " "))
        waiting += [as_seen(raw), _ENCODED.sub(_word, raw), unescape(raw), linked]
        if linked == raw:  # else a link's own escapes would be undone too early
            waiting.append(unquote(raw))


def _unlinked(text: str) -> str:
    """Return a text with its ``mailto:`` links replaced by their recipients."""
    hidden: list[str] = []

    def take(query: str) -> None:
        hidden.extend(value for name, value in parse_qsl(query) if name.casefold() in _LISTS)

    def link(found: re.Match[str]) -> str:
        path, _, query = found[1].partition("?")
        take(query)
        return unquote(path)

    def headers(found: re.Match[str]) -> str:
        take(found[1])
        return " "

    return ", ".join([_QUERY.sub(headers, _MAILTO.sub(link, text)), *hidden])


def _word(found: re.Match[str]) -> str:
    """Return an encoded word (RFC 2047) as text."""
    try:
        data, charset = decode_header(found[0])[0]
        return data if isinstance(data, str) else data.decode(charset or "ascii", "replace")
    except (HeaderParseError, LookupError, ValueError):
        return found[0]


def as_seen(text: str, gap: str = "") -> str:
    """Return a text as it is seen: compatibility forms folded, no invisible characters."""
    folded = unicodedata.normalize("NFKC", text)
    if folded.isascii() and folded.isprintable():
        return folded
    return "".join(_sign(sign, gap) for sign in folded)


def _sign(sign: str, gap: str) -> str:
    category = unicodedata.category(sign)
    if category == "Cf":
        return ""
    return gap if category == "Cc" and not sign.isspace() else sign


def _bare(text: str) -> str:
    """Return a text without display names, comments and blanks within addresses."""
    flat = re.sub(r"\s+", lambda run: "\n" if run[0].strip(" \t") else " ", text)
    flat = _AT.sub("@", flat)
    flat = _DISPLAY.sub(_without_name, flat)
    for _ in range(4):
        flat = _AT.sub("@", _COMMENT.sub(_without_comment, flat))
    # A blank beside a dot does not end a domain.
    flat = re.sub(r"[ \n]\. ?", ".", flat)
    flat = re.sub(r"\. (?=[\w-]{1,63}\.[\w.-]{1,200}(?:[\s,;>)]|$))", ".", flat)
    return _LIST_BREAK.sub(", ", flat)


def _without_name(found: re.Match[str]) -> str:
    name = _COMMENT.sub("", found[1])
    return found[0] if re.search(r"[()<>,;\n]", name) and "@" in name else " "


def _without_comment(found: re.Match[str]) -> str:
    """Remove a comment beside an address; keep the text of others, which may be addresses."""
    text = found.string
    before = text[max(0, found.start() - _WINDOW) : found.start()]
    after = text[found.end() : found.end() + 2].lstrip()
    if re.search(r"(?:>|@(?:\[[^\]\s]{0,80}\]|[^\s,;<>()@\]]{0,253})) ?$", before) or after[:1] in (
        "<",
        "@",
    ):
        return ""
    return f" {found[1]} "


@lru_cache(maxsize=1024)
def canonical(domain: str) -> str:
    """Return a domain for comparison: lower case, IDNA's A-labels, no root dot."""
    text = as_seen(domain).strip().rstrip(_EDGES)
    if len(text) > 253:
        return text.casefold()
    try:
        return idna.encode(text, uts46=True).decode("ascii").casefold()
    except UnicodeError:
        return text.casefold()
