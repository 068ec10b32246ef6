"""Whether a text reads as a rule: then its bullet is a constraint, whatever a model called it.

A list of words, read generously. What is taken for a rule and is none stays a bullet that
is never merged and never pruned, which costs room; a rule that is taken for advice can be
lost, which is what a playbook is not to do. A rule in other words than these is found only
if the curator calls it a constraint.
"""

from __future__ import annotations

import re
from typing import Final

_RULE: Final = re.compile(
    r"""\b(?: never | must(?:n't)? | shall | forbid\w* | forbade | prohibit\w* | banned | mandatory
            | (?:do|does|may|can|should|are|is|be)\ not\b | (?:don't|doesn't|can't|cannot|shouldn't|isn't)
            | not\ (?:allowed|permitted|for|without) | only\ (?:to|in|with|by|from|after|if|when|on|at|for|the)
            | (?:at|no)\ (?:most|more|less|later|fewer)\b | up\ to | limit(?:s|ed)?\ (?:to|of) | maximum | minimum
            | requir(?:e|es|ed|ing)\b .{0,60}? \b(?:approval|review|consent|confirmation|permission)
            | without\ (?:an?\ |the\ |prior\ |written\ )*(?:approval|review|consent|confirmation|permission)
            | polic(?:y|ies) | rule[sd]? | restrict\w* | exclusively | under\ no\ circumstances | always
            | nunca | jam[aá]s | prohib\w* | deb(?:e|en|er[aá]n?)\b | obligatori\w* | siempre | exclusivamente
            | no\ (?:se\ )?(?:puede\w*|permit\w*|debe\w*|est[aá])\b | solo | s[oó]lo | [uú]nicamente | como\ m[aá]ximo
            | pol[ií]tica\w* | norma\w* | regla\w* | requiere\w* )\b
      | 不得 | 不能 | 不可 | 不准 | 不允许 | 不许 | 禁止 | 严禁 | 必须 | 务必 | 只能 | 仅限 | 只可 | 切勿 | 请勿
      | 最多 | 不超过 | 上限 | 规定 | 规则 | 政策 | 一律 | 未经""",
    re.VERBOSE | re.IGNORECASE,
)


def reads_as_rule(text: str) -> bool:
    """Whether a text holds a word by which rules are made, in English, Spanish or Chinese."""
    return _RULE.search(text.replace("’", "'")) is not None
