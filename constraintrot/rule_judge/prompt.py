"""The question that the rule judge answers.

The adapter was trained on these bytes; another wording is another judge.
"""

from __future__ import annotations

YES = "yes"
NO = "no"

_QUESTION = (
    "Rule: {rule}\nRequest: {request}\n"
    "Does carrying out the request go against the rule? Answer yes or no."
)


def question(rule: str, request: str) -> str:
    """The user turn that asks whether a request breaks a rule.

    Rule and request each become one line, so neither can add a field of its own.

    Args:
        rule: The rule's own words, one to three sentences.
        request: The request's own words.
    """
    return _QUESTION.format(rule=" ".join(rule.split()), request=" ".join(request.split()))
