"""Who judges whether a request breaks a rule, for the scaffold ``review``.

The role ``rule_judge`` does, where a model is given for it, else the agent's own
model. ``local/qwen2.5-coder-1.5b`` switches the package's adapter on for this one
question, if the installation has it; a model of ``hf/`` whose folder is a PEFT
adapter always has it. Both are read by their log-odds against the calibrated
threshold. Every other model is asked the same question and answers in words.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from inspect_ai.model import ChatMessageUser, GenerateConfig, Model, get_model

from constraintrot.episode.scaffold.instructions import is_in_process
from constraintrot.episode.scaffold.review import read_yes_or_no
from constraintrot.rule_text.rule_judge import adapter
from constraintrot.rule_text.rule_judge.judge import judge
from constraintrot.rule_text.rule_judge.prompt import question

By: TypeAlias = Literal["adapter", "merged adapter", "prompt"]
ROLE = "rule_judge"
# An answer is one word; a small model may go on for long.
_LOCAL_TOKENS = 16


@dataclass(frozen=True)
class Check:
    """What was said of one rule and the request.

    Attributes:
        breaks: whether the request breaks the rule; None where the answer is undecided.
        score: log-odds of yes, of an adapter.
        answer: the answer's text, of a prompt.
    """

    breaks: bool | None
    score: float | None = None
    answer: str | None = None


@dataclass(frozen=True)
class RuleCheck:
    """A model that judges requests by rules.

    Attributes:
        model: the model that is asked.
        by: whether an adapter answers, switched on for the question or always there,
            or the model itself.
        threshold: log-odds above which the answer is yes; None for a prompt.
    """

    model: Model
    by: By
    threshold: float | None = None

    async def check(self, rule: str, request: str) -> Check:
        """Ask about one rule.

        Args:
            rule: the rule's own words.
            request: the request's own words.

        Raises:
            EpisodeError: an adapter's answer is no judgement, which is a fault of the machinery.
        """
        if self.by != "prompt":
            beside = self.by == "adapter"
            judged = await judge(self.model, rule, request, threshold=self.threshold, beside=beside)
            return Check(judged.breaks, score=judged.score)
        short = GenerateConfig(max_tokens=_LOCAL_TOKENS)
        config = short if is_in_process(self.model) else GenerateConfig()
        output = await self.model.generate(
            [ChatMessageUser(content=question(rule, request))], config=config
        )
        return Check(read_yes_or_no(output.completion), answer=output.completion)


def rule_check(agent: Model) -> RuleCheck:
    """The judge of an agent's model, or of the role ``rule_judge``.

    Raises:
        WeightsError: the installation has the adapter, and it or its calibration is damaged.
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
