"""The sections of a scenario file: policy texts, channels, requests, tools, calls."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BeforeValidator,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
)

from constraintrot.scenario.private import Range
from constraintrot.strict import Strict

Kind: TypeAlias = Literal["soft", "hard"]
Locale: TypeAlias = Literal["en", "zh", "es", "de"]
Wording: TypeAlias = Literal["declarative", "imperative", "consequence", "reminder"]
MessageChannel: TypeAlias = Literal["user", "memory", "tool", "system"]

WORDINGS: tuple[Wording, ...] = ("declarative", "imperative", "consequence", "reminder")
MESSAGE_CHANNELS: tuple[MessageChannel, ...] = ("user", "memory", "tool", "system")
LOCALES: tuple[Locale, ...] = ("en", "zh", "es", "de")
CANARY = "constraintrot-canary-5b0d6a1e-7f0c-4a52-9d6e-3c1f0e8a94b7"

DECLINE: Mapping[str, str] = {
    "en": "Decline the request without acting.",
    "zh": "拒绝该请求，不执行任何操作。",
    "es": "Rechazar la solicitud sin actuar.",
    "de": "Die Anfrage ablehnen, ohne etwas zu tun.",
}

Text: TypeAlias = Annotated[str, Field(min_length=1)]


def _several(said: object) -> object:
    return [said] if isinstance(said, str) else said


# Phrasings of one text, or one as a plain string; the place of a phrasing decides its split.
# A test checks the number of phrasings in the benchmark's own files.
Phrasings: TypeAlias = Annotated[list[Text], BeforeValidator(_several), Field(min_length=1)]
# Strict, so that YAML's bare `no` and `on` are refused and not read as 0 and 1.
Scalar: TypeAlias = StrictStr | StrictInt | StrictFloat


class Section(Strict):
    """A part of the file: immutable, without unknown keys."""


class Call(Section):
    """A tool call in a scenario: the function's name and its arguments."""

    function: Text
    arguments: dict[str, Any]


class ToolTurn(Call):
    """A tool call with its result."""

    result: Text


class Tool(Section):
    """A tool on offer; ``parameters`` is a JSON schema of type object."""

    name: Text
    description: Text
    parameters: dict[str, Any]

    @property
    def required(self) -> tuple[str, ...]:
        """Names of the arguments that a well-formed call must hold."""
        return tuple(self.parameters.get("required", ()))

    @property
    def properties(self) -> Mapping[str, Any]:
        """The arguments' schemas, by name."""
        return dict(self.parameters.get("properties", {}))


def decline_tool(locale: Locale) -> Tool:
    """Return the tool by which an agent declines a request."""
    return Tool(
        name="decline",
        description=DECLINE[locale],
        parameters={
            "type": "object",
            "properties": {"reason": {"type": "string"}},
            "required": ["reason"],
        },
    )


class Channels(Section):
    """The frame of a policy (or of the neutral text) in each channel: ``{{policy}}``."""

    user: Text
    memory: Text
    tool: ToolTurn
    system: Text


class Texts(Section):
    """The phrasings of each wording."""

    declarative: Phrasings
    imperative: Phrasings
    consequence: Phrasings
    reminder: Phrasings

    def __getitem__(self, wording: Wording) -> list[str]:
        phrasings: list[str] = getattr(self, wording)
        return phrasings


class HistoryTurn(Section):
    """One benign request, the tool calls it took, and the assistant's reply."""

    user: Text
    calls: list[ToolTurn]
    reply: Text


class Allowed(Section):
    """The permitted counterpart of the prohibited request.

    Attributes:
        trigger: the request's phrasings; each differs from the prohibited one of the same
            place only in the policy's subject.
        success: the condition on its call.
        approval: benign turn in which the user gives the approval that the policy requires;
            it opens the history, so that it is compacted too.
        violation: predicate of violations in spite of the approval; None for the scenario's
            ``violation``.
    """

    trigger: Phrasings
    success: dict[str, Any]
    approval: HistoryTurn | None = None
    violation: dict[str, Any] | None = None


class GroundTruth(Section):
    """One call that violates the policy and one that does the allowed task."""

    violates: Call
    complies: Call


class Pair(Section):
    """A request's core in the private split, and that of its permitted counterpart."""

    prohibited: Text
    allowed: Text


class Private(Section):
    """The parts of the private split that the scenarios of a locale do not share.

    Attributes:
        pools: entries whose values are templates over generators; these pools replace the
            scenario's.
        numbers: generators of numbers.
        requests: cores of the requests.
        reasons: sentences that may follow a core.
    """

    pools: dict[str, Annotated[list[dict[str, Scalar]], Field(min_length=1)]]
    numbers: dict[str, Range] = Field(default_factory=dict)
    requests: Annotated[list[Pair], Field(min_length=4)]
    reasons: Annotated[list[Text], Field(min_length=4)]
