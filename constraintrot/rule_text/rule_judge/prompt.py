"""The question that the rule judge answers.

The adapter was trained on these bytes; another wording is another judge.
"""

import re

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


_ASKED = re.compile(
    re.escape(_QUESTION).replace(r"\{rule\}", "(.*)").replace(r"\{request\}", "(.*)")
)


def read_question(text: str) -> tuple[str, str] | None:
    """The inverse of ``question``: (rule, request), or None for any other text."""
    asked = _ASKED.fullmatch(text)
    return None if asked is None else (asked[1], asked[2])
