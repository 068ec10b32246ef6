"""The question that the rule judge answers, exactly as the adapter was trained on it."""

import re

YES = "yes"
NO = "no"

_QUESTION = (
    "Rule: {rule}\nRequest: {request}\n"
    "Does carrying out the request go against the rule? Answer yes or no."
)


def question(rule: str, request: str) -> str:
    """Return the user turn that asks whether a request breaks a rule.

    Rule and request each become one line, so neither can add a field of its own.
    """
    return _QUESTION.format(rule=" ".join(rule.split()), request=" ".join(request.split()))


_ASKED = re.compile(
    re.escape(_QUESTION).replace(r"\{rule\}", "(.*)").replace(r"\{request\}", "(.*)")
)


def read_question(text: str) -> tuple[str, str] | None:
    """Parse a ``question`` into (rule, request); None for any other text."""
    asked = _ASKED.fullmatch(text)
    return None if asked is None else (asked[1], asked[2])
