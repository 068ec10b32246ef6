"""Masking of secrets in outgoing data: in texts by shape, and in arguments by name or shape.

Reports, stores, contributed results and the doctor's files all use it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, cast

from constraintrot.extras import installed

MASK: Final = "[secret]"
# Tokens with a recognisable form; docs/doctor.md describes this minimum.
_BUILT_IN = re.compile(
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"
    r"|\bsk-[A-Za-z0-9_-]{16,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}"
    r"|\bxox[abprs]-[A-Za-z0-9-]{10,}"
    r"|\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|\bSG\.[\w-]{16,}\.[\w-]{16,}|\bSK[0-9a-f]{32}\b"
    r"|\b(?:npm|hf)_[A-Za-z0-9]{30,}|\bpypi-[\w-]{40,}"
    r"|\bAIza[0-9A-Za-z_-]{30,}"
    r"|(?<![\w-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----(?:.*?-----END [A-Z ]*PRIVATE KEY-----|.{0,4000})"
    r"|(?<=://)[^\s/:@]{1,200}:[^\s/@]{1,200}(?=@)"
    r"|(?i:(?:(?<=bearer )|(?<=authorization: basic ))[a-z0-9._~+/-]{12,}=*)"
    r"|(?<= -u )[^\s:/]{1,100}:[^\s]{4,100}"
    # A text after "password" counts only if it has letters and digits.
    r"|(?i:(?:(?<=password )|(?<=password is )|(?<= key is )))(?=\S*\d)(?=\S*[A-Za-z])[^\s\"',;]{8,100}",
    re.DOTALL,
)
_KEY = r"(?:api|access|account|secret|private|signing|encryption|license)[ _-]?key"
_NAMED = re.compile(
    r"(?i)\b(?P<name>[\w-]{0,40}(?:password|passwd|passphrase|secret|token|bearer|authorization"
    rf"|credentials?|cookie|{_KEY}))"
    r"(?P<is>[\"']?\s{0,20}[:=]\s{0,20}[\"']?(?:bearer |basic )?)(?P<value>[^\s\"',;]{6,200})"
)
_IN_URL = re.compile(r"(?<=[?&;])(?P<name>[\w.-]{1,40})(?P<is>=)(?P<value>[^&#;\s\"']{4,})")
# Names whose value is a secret, by their words: `AZURE_OPENAI_API_KEY`, `sasToken`, `x-api-key`.
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SECRET_WORDS: Final = frozenset(
    [
        "apikey",
        "auth",
        "authorization",
        "bearer",
        "cookie",
        "cookies",
        "credential",
        "credentials",
        "header",
        "headers",
        "jwt",
        "pass",
        "passphrase",
        "passwd",
        "password",
        "passwords",
        "pat",
        "pwd",
        "sas",
        "secret",
        "secrets",
        "sig",
        "signature",
        "token",
    ]
)
_SECRET_ENDS: Final = ("key", "keys")
# A long run that is opaque if it has letters of both cases and digits, as names and paths have not.
_RUN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]{20,}+")
_PARTS = tuple(map(re.compile, ("[A-Z]", "[a-z]", r"\d")))
# Chinese has no blanks between words, and no secret holds its characters.
_UNBROKEN = r"[^\s\u3000-\u303f\u3400-\u9fff\uff00-\uffef]+"
_FIRST_WORD, _LAST_WORD = re.compile(rf"\A{_UNBROKEN}"), re.compile(rf"{_UNBROKEN}\Z")
_WINDOW, _STEP = 2_000, 1_800
_DEEPEST: Final = 40


class Masker:
    """Masks the secrets of texts, and counts them.

    Args:
        library: whether to use detect-secrets too, if it is installed. Its findings differ
            between its versions, so a report does not use it.

    Attributes:
        masked: number of masked secrets.
        library: whether detect-secrets is used too.
    """

    def __init__(self, *, library: bool = True) -> None:
        self.masked = 0
        self.library = library and installed("detect_secrets")

    def __call__(self, text: str) -> str:
        """Return the text with each secret replaced by ``[secret]``."""
        text = _BUILT_IN.sub(self._replaced, text)
        text = _NAMED.sub(self._named, text)
        text = _IN_URL.sub(self._in_url, text)
        return self._by_library(text) if self.library else text

    def _replaced(self, match: re.Match[str]) -> str:
        self.masked += 1
        return MASK

    def _named(self, match: re.Match[str]) -> str:
        if MASK in match["value"]:
            return match[0]
        self.masked += 1
        return match["name"] + match["is"] + MASK

    def _in_url(self, match: re.Match[str]) -> str:
        return self._named(match) if is_secret_name(match["name"]) else match[0]

    def _by_library(self, text: str) -> str:
        windows = {
            line[at : at + _WINDOW]
            for line in text.splitlines()
            for at in range(0, len(line), _STEP)
        }
        for line in windows:
            for secret in self._scan(line) if line.strip() else ():
                if secret and secret not in MASK and secret in text:
                    text = text.replace(secret, MASK)
                    self.masked += 1
        return text

    def _scan(self, line: str) -> list[str]:
        return [
            str(found.secret_value)
            for plugin in self._plugins
            for found in plugin.analyze_line(filename="", line=line, line_number=1)
            if found.secret_value
        ]

    @cached_property
    def _plugins(self) -> list[Any]:
        from detect_secrets.settings import default_settings, get_plugins

        # Run separately: an "ad hoc" scan would take every word for a secret.
        with default_settings():
            return list(get_plugins())


def beginning(text: str, limit: int) -> str:
    """Return a text's beginning up to a word's end: a part of a secret does not look like one."""
    if len(text) <= limit or text[limit].isspace():
        return text[:limit]
    return _LAST_WORD.sub("", text[:limit])


def ends(text: str, limit: int) -> str:
    """Return a long text's beginning and end, at most ``limit`` characters, cut between words."""
    if len(text) <= limit:
        return text
    half = limit // 2 - 1
    last = text[-half:] if text[-half - 1].isspace() else _FIRST_WORD.sub("", text[-half:])
    return f"{beginning(text, half)}\n{last}"


def is_secret_name(name: str) -> bool:
    """Return whether a value with this name is a secret."""
    words = [word.casefold() for word in _WORD.findall(name)]
    return bool(words) and (words[-1] in _SECRET_ENDS or not _SECRET_WORDS.isdisjoint(words))


def masked_texts(value: Any, mask: Callable[[str], str]) -> Any:
    """Return plain data with the secrets in its texts masked, regardless of names."""
    if isinstance(value, str):
        return mask(value) if len(value) > 7 else value
    if isinstance(value, Mapping):
        return {key: masked_texts(one, mask) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [masked_texts(one, mask) for one in cast("Sequence[Any]", value)]
    return value


def redacted(value: Any, name: str = "") -> Any:
    """Return arguments or settings as plain data, with secrets masked by name and by shape.

    Numbers, booleans, None and all names stay.

    Args:
        value: of any type; other than plain data is converted to text.
        name: the value's name.
    """
    return _redacted(value, is_secret_name(name), Masker(library=False), 0)


def _redacted(value: Any, secret: bool, mask: Masker, depth: int) -> Any:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if depth > _DEEPEST:
        return MASK
    if isinstance(value, Mapping):
        return {
            mask(str(key)): _redacted(one, secret or is_secret_name(str(key)), mask, depth + 1)
            for key, one in value.items()
        }
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_redacted(one, secret, mask, depth + 1) for one in cast("Sequence[Any]", value)]
    return MASK if secret else _RUN.sub(_unless_a_name, mask(str(value)))


def _unless_a_name(run: re.Match[str]) -> str:
    return MASK if all(part.search(run[0]) for part in _PARTS) else run[0]
