"""Layers that compact a history that is too long, and hand off one that was compacted too often.

Compaction uses any Inspect ``CompactionStrategy``, such as this package's compactors. The pipeline
keeps the compacted form of a conversation, so the client goes on sending all of it.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from inspect import isawaitable
from typing import Final, TypeAlias

from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    CompactionStrategy,
    GenerateConfig,
    Model,
    get_model,
)
from inspect_ai.tool import ToolInfo

from constraintrot.compaction.strategy_wrapper import SummaryCheck
from constraintrot.compactors import RECENT_TURNS
from constraintrot.compactors.turns import (
    SUMMARY,
    InPlace,
    OlderTurns,
    Span,
    asked,
    flat,
    partition,
    summarizer,
    summary_message,
)
from constraintrot.errors import ParameterError
from constraintrot.memory.pipeline.context import MOST_SUMMARY, Context, same
from constraintrot.memory.pipeline.context import Compaction as Compacted
from constraintrot.memory.pipeline.layer import Layer, Ran

# Share of the total budget from which history is compacted, and compactions before a hand-off.
THRESHOLD: Final = 0.80
HANDOFF_AFTER: Final = 2
HEADINGS: Final = ("OBJECTIVE", "CONTEXT", "STATE", "CONSTRAINTS", "NEXT_STEPS")
_HEADING: Final = re.compile(rf"^[#* \t]*({'|'.join(HEADINGS)})[*\s]*:[*\s]*", re.MULTILINE)
BRIEF: Final = (
    "Write a briefing for whoever takes this conversation over, under these five headings, each"
    " at the start of a line:\n"
    "OBJECTIVE: what was to be accomplished\n"
    "CONTEXT: key facts and decisions so far\n"
    "STATE: what is done, and what is pending\n"
    "CONSTRAINTS: every rule and limit that is in force, word for word\n"
    "NEXT_STEPS: what should happen next"
)
_ASK: Final = (
    "Summarise the conversation above for whoever goes on with it: what was asked, what was done,"
    " what is pending, and every rule that was given, word for word."
)
Summarize: TypeAlias = Callable[[Sequence[ChatMessage]], Awaitable[str] | str]


class Compaction(Layer):
    """A layer that compacts the history when the request takes up too much of the budget.

    ``threshold`` is the share of the total budget from which it is due. The ``summary_role``
    system, which gives a model's text an operator's authority, exists to be measured.
    """

    name = "compaction"

    def __init__(
        self,
        strategy: CompactionStrategy,
        *,
        threshold: float = THRESHOLD,
        summary_role: str = "user",
    ) -> None:
        if not 0 < threshold <= 1:
            raise ParameterError(f"threshold is a share of the budget, 0 to 1, not {threshold}")
        if summary_role not in ("user", "system"):
            raise ParameterError(f"summary_role is user or system, not {summary_role!r}")
        self.strategy = SummaryCheck(strategy)
        self.threshold, self.summary_role = threshold, summary_role

    async def run(self, context: Context) -> Ran:
        context, notes = resumed(context)
        if not due(context, self.threshold):
            return context, notes
        shown = list(context.messages)
        model = context.model or _model()
        outcome = await self.strategy.compact_outcome(model, shown, list(context.tools))
        kept = [self._voiced(m) for m in _with_prefix(shown, outcome.input)]
        if len(kept) == len(shown) and all(map(same, kept, shown)):
            return context, {**notes, "unchanged": True}
        ran = Compacted("compaction", tuple(shown), tuple(kept), outcome.message)
        return _replaced(context, ran), {**notes, "compactions": context.session.compactions}

    def _voiced(self, message: ChatMessage) -> ChatMessage:
        if self.summary_role == "user" or SUMMARY not in (message.metadata or {}):
            return message
        text = f"<conversation_summary>\n{message.text}\n</conversation_summary>"
        return ChatMessageSystem(content=text, id=message.id, metadata=message.metadata)


class Handoff(Layer):
    """A layer that replaces a history that was compacted often by a briefing under five headings.

    ``after`` is the number of compactions before it, ``threshold`` the share of the total budget
    from which it is due. ``write`` writes the briefing for callers without an Inspect model.
    """

    name = "handoff"

    def __init__(
        self,
        *,
        after: int = HANDOFF_AFTER,
        threshold: float = THRESHOLD,
        write: Summarize | None = None,
    ) -> None:
        if after < 0:
            raise ParameterError(f"a hand-off comes after 0 compactions or more, not {after}")
        self.after, self.threshold, self.write = after, threshold, write

    async def run(self, context: Context) -> Ran:
        context, notes = resumed(context)
        session = context.session
        if session.compactions < self.after or not due(context, self.threshold):
            return context, notes
        parts = partition(list(context.messages))
        older, recent = parts.split()
        if not older:
            return context, notes
        shown = [*parts.protected, *flat(older)]
        if self.write is not None:
            text = await _text_of(self.write, [*shown, ChatMessageUser(content=BRIEF)])
        else:
            model = context.model or _model()
            text, _ = await _summarized(model, shown, BRIEF, context.tools, None)
        message = summary_message(briefing(text))
        kept = (*parts.protected, message, *recent)
        ran = Compacted("handoff", context.messages, kept, message)
        made = _replaced(context, ran)
        # So that the compaction layer does not compact the fresh briefing.
        return replace(made, compact_now=False), {**notes, "handoffs": session.handoffs}


async def _summarized(
    model: Model,
    shown: Sequence[ChatMessage],
    ask: str,
    tools: Sequence[ToolInfo],
    most: int | None,
) -> tuple[str, int]:
    """Return a text by the role ``summarizer``, and the number of empty answers before it."""
    request = [*shown, ChatMessageUser(content=ask)]
    config = GenerateConfig(max_tokens=most)
    return await asked(
        lambda: summarizer(model).generate(
            request, tools=list(tools), tool_choice="none", config=config
        ),
        lambda output: output.completion,
    )


def briefing(text: str) -> str:
    """Return a model's briefing with each of the five headings once, in order.

    Text under no heading becomes context. A missing heading is added with ``none stated``, so that
    a missing rule is visible.
    """
    parts: dict[str, list[str]] = {heading: [] for heading in HEADINGS}
    cuts = list(_HEADING.finditer(text))
    parts["CONTEXT"].append(text[: cuts[0].start()] if cuts else text)
    ends = [*(cut.start() for cut in cuts[1:]), len(text)]
    for cut, end in zip(cuts, ends, strict=False):
        parts[cut[1]].append(text[cut.end() : end])
    told = {name: "\n".join(filter(None, map(str.strip, said))) for name, said in parts.items()}
    return "\n".join(f"{name}: {said or 'none stated'}" for name, said in told.items())


class Summary(OlderTurns):
    """The specification's compactor: the ``recent`` turns stay, the older ones become a summary.

    The role ``summarizer`` writes it, or ``write``, for callers without an Inspect model.
    """

    def __init__(self, write: Summarize | None = None, *, recent: int = RECENT_TURNS) -> None:
        super().__init__(recent=recent)
        self.write = write

    async def replaced(self, model: Model, span: Span, tools: list[ToolInfo]) -> InPlace:
        older, retries = flat(span.older), 0
        if self.write is not None:
            text = await _text_of(self.write, older)
        else:
            shown = [*span.protected, *older]
            text, retries = await _summarized(model, shown, _ASK, tools, MOST_SUMMARY)
        summary = summary_message(text, retries)
        return [summary], summary


def resumed(context: Context) -> Ran:
    """Return the context with its compacted history; a note says if that had to be dropped."""
    if context.client is not None:
        return context, {}
    messages = context.session.resumed(context.messages)
    kept = context.messages if messages is None else tuple(messages)
    made = replace(context, messages=kept, client=context.messages)
    return made.sized_as(context), {"forgot": True} if messages is None else {}


def _model() -> Model:
    """Return the model being evaluated, or one that answers nothing outside an evaluation."""
    try:
        return get_model()
    except ValueError:
        return get_model("none/none")


def due(context: Context, threshold: float) -> bool:
    used = context.tokens + context.pinned_tokens
    return context.compact_now or used > threshold * context.budget.total


def _replaced(context: Context, ran: Compacted) -> Context:
    assert context.client is not None, "history was resumed before it was compacted"
    context.session.replace(context.client, ran)
    return replace(context, messages=ran.kept)


def _with_prefix(shown: Sequence[ChatMessage], kept: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return the kept messages, with the protected ones that a strategy left out in front."""
    known = {message.id for message in kept}
    prefix = [m for m in partition(list(shown)).protected if m.id not in known]
    return [*prefix, *kept]


async def _text_of(write: Summarize, messages: Sequence[ChatMessage]) -> str:
    said: object = write(messages)
    text = await said if isawaitable(said) else said
    if not isinstance(text, str):
        raise ParameterError(
            f"write gives a text, and not {type(text).__name__}; of a model's message take .text"
        )
    return text
