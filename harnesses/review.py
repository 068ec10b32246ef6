"""The steps of the scaffold ``review``: recall, ground, judge; the harness then lets the agent act.

The agent is asked once for the rules of the conversation, before it sees the request and without
tools. A model in this process is too small for that: it found the rules in about half of the
conversations of a thousand tokens, and invented others. It is asked about each passage instead,
and about each sentence of a doubtful passage; its rules are the likeliest four with likely enough
a yes. The answer is matched to passages of the conversation, and the request is judged by each
passage alone. If a rule is broken, the scaffold refuses for the agent in a fixed sentence;
otherwise the agent makes its call as in ``direct``. The episode states the request and its
language, and the harness states which of the agent's messages is a summary; nothing depends on
the condition, the family or the grader. Each step is a span of the transcript; the result is an
event (source ``review``) and in the sample's metadata.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    get_model,
)
from inspect_ai.tool import ToolInfo
from inspect_ai.util import span

from constraintrot.compactors.turns import SUMMARY
from constraintrot.episode.episode import Episode
from constraintrot.episode.messages import before_trigger
from constraintrot.episode.model_output import withheld
from constraintrot.episode.scaffold.grounding import Grounded, ground, passages
from constraintrot.episode.scaffold.instructions import is_in_process, without_instructions
from constraintrot.episode.scaffold.review import (
    LEAST_ODDS,
    MOST_RULES,
    PASSAGE_QUESTION,
    RECALL,
    REFUSALS,
    REVIEW,
    SOME_ODDS,
    read_recall,
    read_yes_or_no,
    without_thought,
)
from constraintrot.errors import EpisodeError
from constraintrot.evaluation.probe import asked_for_rules
from constraintrot.rule_text.rule_judge import adapter
from constraintrot.rule_text.rule_judge.judge import judge
from constraintrot.rule_text.rule_judge.reading import (
    CANDIDATES,
    any_case_log_odds,
    first_token,
    question,
)

NO_ANSWER = -9.0
"""Log-odds for a passage for which the model answers neither yes nor no."""


@dataclass(frozen=True)
class Recall:
    """An agent's answer about its rules, and the rules in it."""

    answer: str
    rules: tuple[str, ...]


async def recall(
    model: Model,
    context: Sequence[ChatMessage],
    given: Sequence[str],
    locale: str,
    tools: Sequence[ToolInfo],
) -> Recall:
    """Ask an agent for its rules.

    Raises:
        EpisodeError: there is no answer. Without its review the agent would act unchecked, and
            that would count as a violation.
    """
    if is_in_process(model):
        return await _by_passage(model, passages(given))
    output = await asked_for_rules(model, context, locale, tools)
    answer = output.completion
    if withheld(output) or not without_thought(answer):
        raise _unanswered("for the rules", output)
    return Recall(answer, tuple(read_recall(answer)))


def _unanswered(question: str, output: ModelOutput) -> EpisodeError:
    return EpisodeError(
        f"scaffold review: the question {question} got no answer (stop reason"
        f" {output.stop_reason}), so the agent's request was not reviewed; play the sample again"
    )


async def _by_passage(model: Model, texts: Sequence[str]) -> Recall:
    odds: dict[str, float] = {}
    for text in texts:
        odds[text] = await _odds(model, text)
        # A rule among other sentences, as in a summary, gives a doubtful passage.
        if SOME_ODDS < odds[text] <= LEAST_ODDS:
            parts = passages([text], sentences=1)
            odds |= {part: await _odds(model, part) for part in parts if part not in odds}
    likely = sorted((value, text) for text, value in odds.items() if value > LEAST_ODDS)
    chosen = {text for _, text in likely[-MOST_RULES:]}
    answer = json.dumps(odds, ensure_ascii=False)
    return Recall(answer, tuple(text for text in odds if text in chosen))


async def _odds(model: Model, passage: str) -> float:
    """Return the log-odds of yes for a passage; an answer with neither word counts as no."""
    config = GenerateConfig(max_tokens=1, logprobs=True, top_logprobs=CANDIDATES)
    asked = ChatMessageUser(content=PASSAGE_QUESTION.format(passage=" ".join(passage.split())))
    output = await model.generate([asked], config=config)
    value = any_case_log_odds(first_token(output) or ())
    return NO_ANSWER if value is None else round(value, 2)


By: TypeAlias = Literal["adapter", "merged adapter", "prompt"]
ROLE = "rule_judge"
# An answer is one word; a small model may go on for long.
_LOCAL_TOKENS = 16


@dataclass(frozen=True)
class Check:
    """A judgement of the request by one rule.

    Attributes:
        breaks: whether the request breaks the rule; None if the answer is undecided.
        score: an adapter's log-odds of yes; None for a prompt.
        answer: the answer's text; None for an adapter.
    """

    breaks: bool | None
    score: float | None = None
    answer: str | None = None


@dataclass(frozen=True)
class RuleCheck:
    """A model that judges requests by rules.

    Attributes:
        by: ``adapter`` (switched on for the question), ``merged adapter`` (always on), or
            ``prompt`` (the model itself).
        threshold: log-odds above which the answer is yes; None for a prompt.
    """

    model: Model
    by: By
    threshold: float | None = None

    async def check(self, rule: str, request: str) -> Check:
        """Ask about one rule."""
        if self.by != "prompt":
            beside = self.by == "adapter"
            judged = await judge(self.model, rule, request, threshold=self.threshold, beside=beside)
            return Check(judged.breaks, score=judged.score)
        short = GenerateConfig(max_tokens=_LOCAL_TOKENS)
        config = short if is_in_process(self.model) else GenerateConfig()
        output = await self.model.generate(
            [ChatMessageUser(content=question(rule, request))], config=config
        )
        if withheld(output):
            raise _unanswered("about a rule", output)
        return Check(read_yes_or_no(output.completion), answer=output.completion)


def rule_check(agent: Model) -> RuleCheck:
    """Return the judge of requests: the model of the role ``rule_judge``, or the agent.

    ``local/qwen2.5-coder-1.5b`` switches the package's adapter on for this one question, if
    the installation has it; a model of ``hf/`` whose folder is a PEFT adapter always has it.
    Both are read by their log-odds against the calibrated threshold. Every other model is
    asked the same question and answers in words.
    """
    model = get_model(role=ROLE, default=agent)
    if _has_adapter(model):
        return RuleCheck(model, "merged adapter", adapter.calibration().threshold)
    if str(model) == f"local/{adapter.BASE}" and adapter.is_installed():
        adapter.file()
        return RuleCheck(model, "adapter", adapter.calibration().threshold)
    return RuleCheck(model, "prompt")


def _has_adapter(model: Model) -> bool:
    folder = model.model_args.get("model_path")
    return folder is not None and (Path(str(folder)) / "adapter_config.json").is_file()


@dataclass(frozen=True)
class Judged:
    """A rule of the conversation, and the judgement of the request by it."""

    rule: Grounded
    check: Check


@dataclass(frozen=True)
class Review:
    """The result of a review.

    Attributes:
        answer: the agent's answer to the question for rules.
        recalled: the rules in it.
        judged: the recalled rules that are in the conversation, each with its judgement.
        judge: the judge.
    """

    answer: str
    recalled: tuple[str, ...]
    judged: tuple[Judged, ...]
    judge: RuleCheck

    @property
    def breaks(self) -> bool:
        """Whether the request breaks a rule; an undecided judgement does not count."""
        return any(one.check.breaks is True for one in self.judged)

    @property
    def facts(self) -> dict[str, Any]:
        """Entries of the sample's metadata."""
        rules = [
            {
                "rule": one.rule.text,
                "share": round(one.rule.share, 3),
                "recalled": list(one.rule.recalled),
                **asdict(one.check),
            }
            for one in self.judged
        ]
        return {
            "rule_judge": str(self.judge.model),
            "rule_judge_by": self.judge.by,
            "review": {
                "answer": self.answer,
                "recalled": list(self.recalled),
                "rules": rules,
                "threshold": self.judge.threshold,
                "refused": self.breaks,
                "undecided": sum(one.check.breaks is None for one in self.judged),
            },
        }


class Reviewer:
    """The single review of an episode's request; no review under another scaffold."""

    def __init__(self, episode: Episode, scaffold: str, model: Model) -> None:
        self._request, self._model = episode.trigger.messages[-1].text, model
        self._locale = episode.variant.scenario.locale
        self._due = scaffold == REVIEW
        self.review: Review | None = None

    @property
    def facts(self) -> dict[str, Any]:
        return {} if self.review is None else self.review.facts

    def recalled(self, written: Iterable[str | None]) -> str | None:
        """Return the rules recalled at the review, else those in the first answer that has any."""
        if self.review is not None:
            return "\n".join(self.review.recalled)
        return next((one for one in written if one is not None), None)

    async def refusal(
        self, sent: Sequence[ChatMessage], tools: Sequence[ToolInfo]
    ) -> ModelOutput | None:
        """Return the answer in place of an action; None if the agent goes on to act.

        Some providers need the tools of earlier calls defined.
        """
        if not self._due or not any(self._request in message.text for message in sent):
            return None
        self._due = False
        context = before_trigger(sent, self._request)
        async with span(REVIEW):
            self.review = await self._reviewed(context, tools)
            transcript().info(self.review.facts, source=REVIEW)
        if not self.review.breaks:
            return None
        return ModelOutput.from_content(str(self._model), REFUSALS[self._locale])

    async def _reviewed(self, context: Sequence[ChatMessage], tools: Sequence[ToolInfo]) -> Review:
        # Before any call, so that a damaged adapter costs nothing.
        judge, request = rule_check(self._model), without_instructions(self._request)
        given = [one.text for one in context if not _agents_own(one)]
        async with span(RECALL):
            recalled = await recall(self._model, context, given, self._locale, tools)
        rules = ground(recalled.rules, given)
        judged: list[Judged] = []
        for number, rule in enumerate(rules, start=1):
            async with span(f"judge rule {number}"):
                judged.append(Judged(rule, await judge.check(rule.text, request)))
        return Review(recalled.answer, recalled.rules, tuple(judged), judge)


def _agents_own(message: ChatMessage) -> bool:
    """Return whether the agent wrote a message; some frameworks give it the summary as its own."""
    return message.role == "assistant" and SUMMARY not in (message.metadata or {})
