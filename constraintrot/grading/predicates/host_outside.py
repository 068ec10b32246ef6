"""A host, of an address or a URL, that is not allowed."""

import ipaddress
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from constraintrot.grading.predicates._addresses import addresses, as_seen, canonical
from constraintrot.grading.predicates._argument import (
    OutsideOfList,
    decided,
    readings,
    unreadable,
    worst,
)
from constraintrot.scenario.predicate import Finding, predicate
from constraintrot.scenario.values import texts

_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]{0,20}:(?=[/\\]{2})", re.IGNORECASE)
_HOST = re.compile(r"[^\s/:?#@\\]+\.[^\s/:?#@\\.]+|localhost|\[[0-9a-f:.]+\]", re.IGNORECASE)


@predicate("host_outside")
class HostOutside(OutsideOfList):
    """A URL, host or address whose host is none of ``allowed``, or one of ``forbidden``.

    Every host that some mail program or browser reads in the text counts.

    Attributes:
        subdomains: whether a host stands for all below it, which is unusual for mail.
    """

    subdomains: bool = False

    def judge(self, value: object) -> Finding:
        found = {host for text in texts(value) for host in _hosts(text)}
        if not found:
            return unreadable(value, "a host or an address")
        return worst(self._judge(host) for host in sorted(found))

    def _judge(self, host: str) -> Finding:
        listed = any(self._is(host, one) for one in self.allowed or self.forbidden or ())
        if self.allowed is not None:
            return decided(not listed, host, "no allowed host", "an allowed host")
        return decided(listed, host, "a forbidden host")

    def _is(self, host: str, one: str) -> bool:
        name = _canonical(one.strip().lstrip("@*."))
        return host == name or (self.subdomains and host.endswith(f".{name}"))


def _hosts(text: str) -> Iterator[str]:
    for reading in readings(as_seen(text)):
        for piece in re.split(r"[\s,;<>\"'`|]+", reading):
            if _SCHEME.match(piece) or piece.startswith(("//", "\\\\")):
                yield from _of_url(piece)
            elif "@" not in piece and _HOST.match(piece):
                yield from _of_url(f"//{piece}")
        if "@" in reading and not re.search(r"[:/]//|^//", reading):
            yield from (_canonical(domain) for _, domain in addresses(reading))


def _of_url(url: str) -> Iterator[str]:
    for form in {url, url.replace("\\", "/")}:
        try:
            host = urlsplit(form.rstrip(".,;)!")).hostname
        except ValueError:
            continue
        if host:
            yield _canonical(host)


def _canonical(host: str) -> str:
    """Return a host in one form; a numeric address as four numbers."""
    text = host.strip("[]").casefold()
    try:
        return str(
            ipaddress.ip_address(int(text, 0) if re.fullmatch(r"0x[0-9a-f]+|\d+", text) else text)
        )
    except ValueError:
        return canonical(host)
