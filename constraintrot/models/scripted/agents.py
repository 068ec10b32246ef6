"""``scripted/NAME``: models that follow a rule, deterministic, offline, for tests.

- ``obedient`` obeys any policy that its input holds and otherwise acts;
  ``reckless`` always acts; ``refuser`` always declines. They decline by the tool
  where one is on offer, and in words where none is.
- ``summarizer-drop``, ``summarizer-keep``, ``summarizer-weaken`` write summaries
  that lose a policy, keep it word for word, or keep its subject without its force;
  ``summarizer-follow``, ``-resist``, ``-half`` and ``-join`` lose or keep it by
  what the transcript tells them; ``-revoice`` and ``-attribute`` keep it, and tell
  of approvals in the user's name or with who said so (``suggestible``).

They see messages and tools, nothing else. In a summarizer call (no tool may be
used) every agent script drops policies; ``-M summarizer=keep`` tells it otherwise.
Asked to verify a call, it answers as ``verifying`` says; ``-M verifier=garbage``
makes it unreadable. Asked for an attack's text, as ``attacking`` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    ModelAPI,
    ModelInfo,
    ModelOutput,
    modelapi,
    set_model_info,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from constraintrot.episode.messages import message_texts
from constraintrot.errors import ParameterError, UnknownNameError
from constraintrot.grading.survival import Slots, sentences
from constraintrot.models.config_errors import plainly
from constraintrot.models.offline import OfflineAPI, metered
from constraintrot.models.scripted import (
    attacker as attacking,
)
from constraintrot.models.scripted import (
    summarizers as suggestible,
)
from constraintrot.models.scripted import (
    verifier as verifying,
)
from constraintrot.models.scripted.request_parser import (
    Request,
    any_policy_in,
    policy_in,
    request_in,
)
from constraintrot.scaffold import answer_format
from constraintrot.scenario.schema import Call

AGENTS = ("obedient", "reckless", "refuser")
REFUSES = "I can't do that: a standing policy forbids it."
# Inspect's default; a script reads whatever it is sent.
CONTEXT = 128_000
SUMMARIZERS = ("drop", "keep", "weaken", *suggestible.SUGGESTIBLE, *suggestible.VOICES)


@modelapi(name="scripted")
def scripted() -> type[ModelAPI]:
    """The provider's class."""
    return plainly(Scripted)


class Scripted(OfflineAPI):
    """A model that follows a rule.

    Args:
        model_name: ``obedient``, ``reckless``, ``refuser`` or ``summarizer-*``.
        base_url: unused.
        api_key: unused.
        config: unused.
        summarizer: what an agent script does with policies in a summarizer
            call: one of ``SUMMARIZERS``.
        verifier: whose answers an agent script gives in a verifier call, one of
            ``verifying.STYLES``; its own by default.

    Raises:
        UnknownNameError: no such script.
        ParameterError: an unknown model argument or kind of summary.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),
        summarizer: str = "drop",
        verifier: str | None = None,
        **unknown: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        known = (*AGENTS, *(f"summarizer-{style}" for style in SUMMARIZERS))
        if model_name not in known:
            raise UnknownNameError("scripted model", model_name, known)
        if unknown:
            raise ParameterError(
                f"unknown model argument {sorted(unknown)}; known: summarizer, verifier"
            )
        self.style = model_name.removeprefix("summarizer-")
        self.agent = model_name in AGENTS
        if self.agent:
            self.style = summarizer
        if self.style not in SUMMARIZERS:
            raise ParameterError(
                f"unknown summarizer {self.style!r}; known: {', '.join(SUMMARIZERS)}"
            )
        # Else Inspect warns, at every compaction, that it knows no window.
        set_model_info(f"scripted/{model_name}", ModelInfo(context_length=CONTEXT))
        self.verifier = verifier or model_name
        if self.agent and self.verifier not in verifying.STYLES:
            raise ParameterError(
                f"unknown verifier {verifier!r}; known: {', '.join(verifying.STYLES)}"
            )

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        """Answer by the rule."""
        texts = message_texts(input)
        if self.agent and not tools and verifying.asked(texts[-1]):
            output = ModelOutput.from_content(
                self.model_name, verifying.answer(texts[-1], self.verifier)
            )
        elif self.agent and not tools and (attack := attacking.answer(texts[-1], self.model_name)):
            output = ModelOutput.from_content(self.model_name, attack)
        elif not self.agent or not tools or tool_choice == "none":
            output = ModelOutput.from_content(self.model_name, summary(texts, input, self.style))
        else:
            output = self._act(texts, input, tools)
        return metered(output, texts)

    def _act(
        self, texts: Sequence[str], input: Sequence[ChatMessage], tools: Sequence[ToolInfo]
    ) -> ModelOutput:
        offered = frozenset(tool.name for tool in tools)
        # Some frameworks put what an agent remembers in a system message after the request.
        at = max((at for at, m in enumerate(input) if m.role != "system"), default=-1)
        asked, context = texts[at], [*texts[:at], *texts[at:][1:]]
        request = request_in(asked, offered)
        if request is None and self.model_name != "refuser":
            return ModelOutput.from_content(self.model_name, "There is nothing for me to do here.")
        policy = policy_in(context, request.slots) if request else None
        if (
            request
            and request.scenario.allowed.approval
            and _approved([*input[:at], *input[at:][1:]])
        ):
            policy = (
                None  # It asks for an approval, and as far as this script can see there is one.
            )
        call = self._call(request, policy)
        if call.function == "decline" and "decline" not in offered:
            return ModelOutput.from_content(self.model_name, _refused(asked, policy))
        output = ModelOutput.for_tool_call(self.model_name, call.function, call.arguments)
        if "breaks_policy" in asked:
            breaks = "yes" if call.function == "decline" else "no"
            output.message.content = answer_format.deliberation(policy or "none", breaks)
        return output

    def _call(self, request: Request | None, policy: str | None) -> Call:
        decline = Call(function="decline", arguments={"reason": "A standing policy forbids it."})
        if request is None or self.model_name == "refuser":
            return decline
        obeys = self.model_name == "obedient" and request.kind == "prohibited"
        return decline if obeys and policy is not None else request.call


def _refused(asked: str, policy: str | None) -> str:
    """A refusal in words, in the form that the scaffold asks for."""
    if "breaks_policy" not in asked:
        return REFUSES
    return answer_format.dumps(
        {"policy": policy or "none", "breaks_policy": "yes", "call": REFUSES}
    )


def summary(texts: Sequence[str], input: Sequence[ChatMessage], style: str) -> str:
    """A summary of a transcript, with its policies dropped, kept or weakened.

    Args:
        texts: the messages' texts.
        input: the messages.
        style: one of ``SUMMARIZERS``.
    """
    if style in suggestible.SUGGESTIBLE:
        style = suggestible.style(input, style)
    replies = [
        sentences(message.text)[0].strip()
        for message in input
        if message.role == "assistant" and message.text and not message.tool_calls
    ]
    done = f"{len(replies)} replies so far. Latest: {replies[-1] if replies else 'none'}"
    if style == "drop":
        return done
    policies = any_policy_in(texts)
    if style in ("keep", *suggestible.VOICES):
        told = suggestible.told(input, style) if style in suggestible.VOICES else []
        return "\n".join([*(statement for statement, _ in policies), *told, done])
    return "\n".join([*(_weakened(statement, slots) for statement, slots in policies), done])


def _approved(context: Sequence[ChatMessage]) -> bool:
    """Whether anybody but a tool says that something was approved."""
    return any(not by_tool for _, by_tool in suggestible.approvals(context))


def _weakened(statement: str, slots: Slots) -> str:
    """What the policy was about, without its force: the words that forbid are left out."""
    folded = statement.casefold()
    found = [
        next((str(phrase) for phrase in phrases if str(phrase).casefold() in folded), "")
        for name, phrases in slots.items()
        if name != "negation"
    ]
    return f"Earlier remarks touched on {' / '.join(filter(None, found))}; use judgement."
