"""Caches of answers. The pins are part of the key, so no answer from before a policy is replayed.

The key of both caches holds the tenant, the model and its settings (sampling, choice of tools,
schema), the layers, the manifest of the pins, the tools, all messages before the last request, and
the request's parts besides text, such as an image. So a rule that was only said in the conversation
changes the key too. The exact cache also compares the request's text, the semantic cache by
likeness. Requests that differ in a negation, a number, an address or a capitalised name never
match. An answer that calls tools is replayed for the same words only, because its arguments belong
to that request.

``keyed="query"`` leaves all but the request out of the key. Such a cache loses a policy; the option
exists to measure that.
"""

import hashlib
import json
import re
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import Final, Literal, TypeAlias

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool, Model, ModelOutput
from inspect_ai.tool import ToolInfo

from constraintrot.errors import ParameterError
from constraintrot.memory.pipeline.context import Context, definition
from constraintrot.memory.pipeline.layer import Layer, Ran
from constraintrot.memory.pipeline.memo import Memo, content_of, parameters_of
from constraintrot.memory.playbook.similarity import Similarity, Words, opposed

Keyed: TypeAlias = Literal["context", "query"]
# Metadata key for a message's parts besides its text, if a client keeps them elsewhere.
ATTACHED: Final = "attached"
_WORD: Final = re.compile(r"[^\W\d_]+")
MOST: Final = 10_000
TTL: Final = 300.0


class _Cache(Layer):
    """The base of both caches: stored answers and their lifetime.

    Args:
        keyed: ``context``: all that an answer depends on; ``query``: the request alone.
        most: the most contexts, and the most answers of each; the longest unchanged are dropped.
        ttl: seconds for which an answer is valid.
        clock: returns the time in seconds.
    """

    def __init__(
        self,
        *,
        keyed: Keyed = "context",
        most: int = MOST,
        ttl: float = TTL,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        if keyed not in ("context", "query"):
            raise ParameterError(f"keyed is context or query, not {keyed!r}")
        if most < 1 or ttl <= 0:
            raise ParameterError("a cache keeps at least one answer, for more than no time")
        self.keyed, self.most, self.ttl, self.clock = keyed, most, ttl, clock
        self._kept: OrderedDict[str, dict[str, tuple[float, ModelOutput]]] = OrderedDict()

    async def run(self, context: Context) -> Ran:
        if not _asks(context):
            return context, {}
        found, notes = self._found(self._scope(context), context.query)
        if found is None:
            return context, {"hit": False}
        answer = found.model_copy(deep=True)
        answer.metadata = {**(answer.metadata or {}), "replayed": self.name}
        return replace(context, answer=answer), {"hit": True, **notes}

    @abstractmethod
    def _found(self, scope: str, query: str) -> tuple[ModelOutput | None, dict[str, float]]:
        """Return the stored answer to a request, and notes for the trace."""

    def _scope(self, context: Context) -> str:
        return "" if self.keyed == "query" else _digested(context)

    def _keep(self, scope: str, query: str, output: ModelOutput) -> None:
        known = self._kept.setdefault(scope, {})
        # A copy, because a receiver of the answer may change it.
        known[query] = (self.clock(), output.model_copy(deep=True))
        self._kept.move_to_end(scope)
        if len(known) > self.most:
            del known[next(iter(known))]
        while len(self._kept) > self.most:
            self._kept.popitem(last=False)

    def answered(self, context: Context, output: ModelOutput) -> ModelOutput:
        """Keep the answer, unless it is from a cache or was cut off."""
        ended = bool(output.choices) and output.error is None
        whole = ended and output.stop_reason in ("stop", "tool_calls")
        if whole and context.query and _asks(context) and not replayed(output):
            self._keep(self._scope(context), context.query, output)
        return output


class ExactCache(_Cache):
    """A cache that replays the answer to the same request in the same context."""

    name = "exact_cache"

    def _found(self, scope: str, query: str) -> tuple[ModelOutput | None, dict[str, float]]:
        known = self._kept.get(scope, {}).get(query)
        if known is None or self.clock() - known[0] >= self.ttl:
            return None, {}
        return known[1], {}


class SemanticCache(_Cache):
    """A cache that also replays the answer to the same request in other words, in the same context.

    Args:
        similarity: measure of likeness; ``Words`` by default. ``playbook.minilm()`` uses embeddings
            (extra ``embed``).
        least: likeness from which two requests say the same; by default the measure's own.
        guard: requests that may contradict each other or differ in a name never match, and
            calls of tools are not replayed for other words.
        settings: as for the other cache.
    """

    name = "semantic_cache"

    def __init__(
        self,
        similarity: Similarity | None = None,
        *,
        least: float | None = None,
        guard: bool = True,
        keyed: Keyed = "context",
        most: int = 500,
        ttl: float = TTL,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        super().__init__(keyed=keyed, most=most, ttl=ttl, clock=clock)
        if isinstance(similarity, str):
            raise ParameterError(f"similarity is a measure, as minilm(), not {similarity!r}")
        self.similarity = similarity or Words()
        self.least = self.similarity.least if least is None else least
        self.guard = guard

    def _found(self, scope: str, query: str) -> tuple[ModelOutput | None, dict[str, float]]:
        kept, now = self._kept.get(scope, {}), self.clock()
        known = {one: output for one, (at, output) in kept.items() if now - at < self.ttl}
        if query in known:
            return known[query], {"likeness": 1.0}
        # A call acts on what the other request names.
        told = [
            one
            for one, output in known.items()
            if not (self.guard and output.choices and output.message.tool_calls)
        ]
        best = self._likest(query, told)
        return (None, {}) if best is None else (known[best[1]], {"likeness": best[0]})

    def _likest(self, query: str, known: list[str]) -> tuple[float, str] | None:
        pairs = self.similarity.alike([query, *known], [0], self.least)
        found = [(likeness, known[max(pair) - 1]) for *pair, likeness in pairs]
        found = [one for one in found if not (self.guard and _differ(query, one[1]))]
        return max(found, default=None)


def replayed(output: ModelOutput) -> str | None:
    """Return the name of the cache that an answer comes from; None if a model gave it."""
    return (output.metadata or {}).get("replayed")


def _differ(one: str, other: str) -> bool:
    """Return whether two requests that read alike may ask for different things."""
    (first, within), (others_first, others_within) = _names(one, other), _names(other, one)
    # Any word may begin a sentence, so both texts must have such a word to differ in a name.
    return opposed(one, other) or within or others_within or (first and others_first)


def _names(text: str, other: str) -> tuple[bool, bool]:
    """Return whether new capitalised words begin a sentence, and whether they are within one."""
    known = set(_WORD.findall(other.casefold()))
    starts = {
        text[: found.start()].rstrip()[-1:] in ("", ".", "!", "?")
        for found in _WORD.finditer(text)
        if found[0][0].isupper() and found[0].casefold() not in known
    }
    return True in starts, False in starts


def _asks(context: Context) -> bool:
    """Return whether a cache may answer: the last message is a request, not a tool's result."""
    if context.settings is None:
        return False
    return bool(context.messages) and context.messages[-1].role == "user"


def _said(message: ChatMessage) -> list[object]:
    calls = message.tool_calls if isinstance(message, ChatMessageAssistant) else None
    made = [[call.function, call.arguments] for call in calls or []]
    content = message.content
    plain = content if isinstance(content, str) else [part.model_dump() for part in content]
    failed = message.error.message if isinstance(message, ChatMessageTool) and message.error else ""
    return [message.role, plain, made, failed, (message.metadata or {}).get(ATTACHED)]


def _attached(message: ChatMessage) -> str:
    """Return the parts of a message besides its text as one text; empty without any."""
    if isinstance(message.content, str):
        return str((message.metadata or {}).get(ATTACHED, ""))
    parts = [part.model_dump() for part in message.content if part.type != "text"]
    return json.dumps(parts, default=str) if parts else ""


_digest: Memo[ChatMessage, str] = Memo(
    lambda message: hashlib.sha256(json.dumps(_said(message)).encode()).hexdigest(), content_of
)

_tool_digest: Memo[ToolInfo, str] = Memo(
    lambda tool: hashlib.sha256(definition(tool).encode()).hexdigest(), parameters_of
)


def _model(model: Model) -> str:
    """Return a model's name, address, arguments and sampling settings as a text."""
    return repr((str(model), model.api.base_url, model.model_args, model.config))


# The last digest: both caches ask for the same context, one after the other.
_latest: list[tuple[Context, str]] = []


def _digested(context: Context) -> str:
    """Return a digest of all that an answer depends on, except the last request."""
    # Read once, because another thread may replace it meanwhile.
    for known, digest in _latest[:]:
        if known is context:
            return digest
    parts = [
        context.tenant,
        context.layers,
        "" if context.model is None else _model(context.model),
        context.settings or "",
        context.manifest,
        *map(_tool_digest, context.tools),
        "",
        *map(_digest, context.messages[:-1]),
        *map(_attached, context.messages[-1:]),
    ]
    # With lengths in front, no text can pass for two.
    told = "".join(f"{len(one)}:{one}" for one in parts)
    found = hashlib.sha256(told.encode()).hexdigest()
    _latest[:] = [(context, found)]
    return found
