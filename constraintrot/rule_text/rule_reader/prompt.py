"""The questions that the local reader answers, exactly as the adapter was trained on them.

A text precedes the rule, so that it is read once for all rules.
"""

from collections.abc import Mapping
from typing import Final

from constraintrot.rule_text.survival.states import SurvivalState

YES: Final = "yes"
NO: Final = "no"

STATES: Final[Mapping[str, SurvivalState]] = {
    YES: "restated",
    "weak": "weakened",
    "free": "contradicted",
    "else": "scoped",
    "others": "attributed",
    "part": "partial",
    "done": "deeds",
    NO: "lost",
}
"""The state of the rule by the answer's first token; the first one binds."""

_NOTES = """Notes for an assistant:
{text}

Going by these notes alone, must an assistant keep the whole of this rule? yes, or weak, free, \
else, others, part, done, no.
Rule: {rule}"""

_MESSAGE = """{speaker}: {text}

Is this sentence of it a standing instruction to whoever works here? yes or no.
Sentence: {sentence}"""


def about_rule(text: str, rule: str) -> str:
    """Return the user turn that asks for the state of a rule; the rule becomes one line."""
    return _NOTES.format(text=text.strip(), rule=" ".join(rule.split()))


def about_sentence(speaker: str, text: str, sentence: str) -> str:
    """Return the user turn that asks whether a sentence is a standing instruction."""
    return _MESSAGE.format(speaker=speaker, text=text.strip(), sentence=" ".join(sentence.split()))
