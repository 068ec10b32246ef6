"""Masking of personal data on its way to the model, and unmasking of the answer.

A value has one placeholder throughout a conversation, so a rule about a person still fits a request
about them. Values in the pins are not masked: the model sees them with every request anyway, and a
pinned rule about a masked value would fit nothing.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, TypeAlias

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ModelOutput

from constraintrot.episode.messages import with_texts
from constraintrot.errors import ParameterError
from constraintrot.extras import require
from constraintrot.memory.pipeline.context import Context, Session
from constraintrot.memory.pipeline.layer import Layer, Ran, with_message
from constraintrot.memory.pipeline.memo import Memo, content_of

# A function from a text to its personal data: start, end and kind of each.
Detector: TypeAlias = Callable[[str], "tuple[tuple[int, int, str], ...]"]
_PATTERNS: Final = re.compile(
    r"(?P<EMAIL>[A-Za-z0-9][\w.+-]{0,63}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)"
    r"|(?P<IBAN>\b[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b)"
    r"|(?P<SSN>\b\d{3}-\d\d-\d{4}\b)"
    r"|(?P<CARD>\b\d(?:[ -]?\d){12,18}\b)"
    r"|(?P<PHONE>(?<![\w.])\+\d(?:[ ()-]{0,2}\d){7,14}\b|\(\d{3}\) ?\d{3}-\d{4}\b)"
    r"|(?P<IP>\b(?:\d{1,3}\.){3}\d{1,3}\b)"
)
# Text that looks like a placeholder is masked too; else it would be replaced in the answer.
_LITERAL: Final = re.compile(r"<[A-Z_]+_\d+>|masked-\d+@[\w.-]+")


@lru_cache(maxsize=8192)
def by_patterns(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return the addresses and the account, card, social security and telephone numbers in a text.

    Names of people are not found.
    """
    return tuple(_spans(text))


def _spans(text: str) -> Iterator[tuple[int, int, str]]:
    at = 0
    while match := _PATTERNS.search(text, at):
        kind = str(match.lastgroup)
        length = _length(kind, match[0])
        if length:
            yield match.start(), match.start() + length, kind
        at = match.start() + (length or 1)


def _length(kind: str, text: str) -> int:
    """Return the length of the longest part of a match, up to a blank, with a valid checksum."""
    if kind == "IP":
        return len(text) if all(int(part) < 256 for part in text.split(".")) else 0
    if kind not in ("CARD", "IBAN"):
        return len(text)
    ends = [len(text), *(found.start() for found in re.finditer("[ -]", text))]
    valid = _luhn if kind == "CARD" else _iban
    return max((end for end in ends if valid(text[:end])), default=0)


def _luhn(text: str) -> bool:
    digits = [int(one) for one in text if one.isdigit()]
    doubled = [d if at % 2 == 0 else sum(divmod(2 * d, 10)) for at, d in enumerate(digits[::-1])]
    return len(digits) > 12 and sum(doubled) % 10 == 0


def _iban(text: str) -> bool:
    plain = text.replace(" ", "")
    checked = int("".join(str(int(one, 36)) for one in plain[4:] + plain[:4]))
    return len(plain) > 14 and checked % 97 == 1


def presidio(analyzer: Any = None, language: str = "en", least: float = 0.4) -> Detector:
    """Return a detector by Microsoft's Presidio (extra ``pii``), which also finds names of people.

    The default ``analyzer`` loads a language model of spaCy's. A finding counts from the score
    ``least``.
    """
    if analyzer is None:
        require("masking by Presidio", "pii")
        from presidio_analyzer import AnalyzerEngine

        analyzer = AnalyzerEngine()

    def detect(text: str) -> tuple[tuple[int, int, str], ...]:
        found = [r for r in analyzer.analyze(text=text, language=language) if r.score >= least]
        found.sort(key=lambda r: (r.start, -r.end))
        spans: list[tuple[int, int, str]] = []
        for one in found:
            if not spans or one.start >= spans[-1][1]:
                spans.append((one.start, one.end, str(one.entity_type)))
        return tuple(spans)

    return lru_cache(maxsize=8192)(detect)


class Masking(Layer):
    """A layer that masks personal data, and unmasks the answer's text and calls.

    By default it detects by patterns, and keeps the domain of an email address, because rules are
    often about domains.
    """

    name = "masking"
    lengthens = True

    def __init__(self, detect: Detector = by_patterns, *, keep_domain: bool = True) -> None:
        if not callable(detect):
            raise ParameterError(f"detect is a function, as presidio() gives one, not {detect!r}")
        self.detect, self.keep_domain = detect, keep_domain

    async def run(self, context: Context) -> Ran:
        """Mask every message; a value that was masked before keeps its placeholder."""
        vault = context.session.vault
        before = len(vault)
        mask = self._memo(context)
        messages = tuple(map(mask, context.messages))
        return replace(context, messages=messages), {"new": len(vault) - before}

    def _memo(self, context: Context) -> Memo[ChatMessage, ChatMessage]:
        """Return the memo that masks each message of a conversation once for the same pins."""
        session = context.session
        manifest, memo = session.masked
        if memo is None or manifest != context.manifest:
            pinned = "\n".join(context.pinned)
            known = {value: mask for mask, value in session.vault.items()}

            def mask(message: ChatMessage) -> ChatMessage:
                return _each_text(message, lambda text: self._masked(text, known, session, pinned))

            memo = Memo(mask, content_of, most=2_000)
            session.masked = (context.manifest, memo)
        return memo

    def _masked(self, text: str, known: dict[str, str], session: Session, pinned: str) -> str:
        def literal(part: str) -> str:
            return _LITERAL.sub(lambda match: self._mask(match[0], "TEXT", known, session), part)

        parts: list[str] = []
        at = 0
        for start, end, kind in self.detect(text):
            value = text[start:end]
            parts.append(literal(text[at:start]))
            named = _names(pinned, value)
            parts.append(value if named else self._mask(value, kind, known, session))
            at = end
        return "".join([*parts, literal(text[at:])])

    def _mask(self, value: str, kind: str, known: dict[str, str], session: Session) -> str:
        if value not in known:
            number = next(session.numbers)
            name = f"<{kind}_{number}>"
            if "@" in value and self.keep_domain:
                name = f"masked-{number}@{value.rpartition('@')[2]}"
            known[value] = name
            session.vault[name] = value
        return known[value]

    def answered(self, context: Context, output: ModelOutput) -> ModelOutput:
        vault = context.session.vault
        if not vault or not output.choices:
            return output
        shown = _revealed(output.message, vault)
        assert isinstance(shown, ChatMessageAssistant), "a copy keeps its role"
        return with_message(output, shown)

    def revealed(self, context: Context, messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
        vault = context.session.vault
        return [_revealed(message, vault) for message in messages] if vault else messages


@lru_cache(maxsize=8192)
def _names(pinned: str, value: str) -> bool:
    """Return whether the pins hold a value as a whole word, and not as a part of a longer one."""
    if value not in pinned:
        return False
    whole = rf"(?<![\w+@-])(?<!\w\.){re.escape(value)}(?![\w+@-]|\.\w)"
    return re.search(whole, pinned) is not None


def _revealed(message: ChatMessage, vault: dict[str, str]) -> ChatMessage:
    # The longest first, because one placeholder may begin another.
    found = re.compile("|".join(map(re.escape, sorted(vault, key=len, reverse=True))))
    return _each_text(message, lambda text: found.sub(lambda match: vault[match[0]], text))


def _each_text(message: ChatMessage, change: Callable[[str], str]) -> ChatMessage:
    """Return a message with its texts and its calls' arguments changed, or the same message."""
    message = with_texts(message, change)
    if isinstance(message, ChatMessageAssistant) and message.tool_calls:
        calls = [
            replace(call, arguments=_value(call.arguments, change)) for call in message.tool_calls
        ]
        if calls != message.tool_calls:
            return message.model_copy(update={"tool_calls": calls})
    return message


def _value(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_value(one, change) for one in value]
    if isinstance(value, dict):
        return {key: _value(one, change) for key, one in value.items()}
    return value
