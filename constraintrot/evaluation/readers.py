"""The reader of rules that a run declares, and the answers of the role ``judge``."""

from collections.abc import Callable
from typing import Any

from inspect_ai.model import GenerateConfig, Model, model_roles

from constraintrot.errors import ParameterError, UnknownNameError
from constraintrot.rule_text.judge_reader import JudgeReader
from constraintrot.rule_text.local_reader import LocalReader
from constraintrot.rule_text.reader import READERS, Reader, ReaderName
from constraintrot.rule_text.rule_reader import adapter
from constraintrot.rule_text.words import WordsReader


def check(name: str | None) -> ReaderName | None:
    """Return the name of a reader; None for the default."""
    for known in READERS:
        if name == known:
            return known
    if name is None:
        return None
    raise UnknownNameError("reader", name, READERS)


def make(name: str | None, mask: Callable[[str], str] = str) -> Reader:
    """Return a reader; by default the role ``judge`` if a model has it, else ``words``.

    ``mask`` masks the secrets of what a judge is sent.
    """
    chosen = check(name)
    judge = _judge()
    if chosen == "judge" and judge is None:
        raise ParameterError(
            "reader=judge asks the model in the role judge, and none has it; add"
            " --model-role judge=MODEL, or choose reader=words"
        )
    if chosen == "local":
        return local()
    if judge is None or chosen == "words":
        return WordsReader()
    return JudgeReader(judge, mask=mask)


def local(**settings: Any) -> LocalReader:
    """Return the reader ``local``, with settings of ``LocalReader``."""
    if not adapter.is_installed():
        raise ParameterError(
            "reader=local needs the adapter rule-reader, which this installation lacks; choose"
            " reader=judge or reader=words"
        )
    return LocalReader(**settings)


def _judge() -> Model | None:
    given = model_roles().get("judge")
    return given[0] if isinstance(given, list) else given


async def judge_answers(prompt: str) -> list[str] | None:
    """Return an answer of each model in the role ``judge``; None if nobody has the role."""
    judges = model_roles().get("judge")
    if judges is None:
        return None
    models: list[Model] = judges if isinstance(judges, list) else [judges]
    config = GenerateConfig(max_tokens=512)
    return [(await model.generate(prompt, config=config)).completion for model in models]
