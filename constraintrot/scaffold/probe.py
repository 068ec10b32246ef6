"""The probe: an agent is asked which rules it was given, and its answer is read.

It is asked of a copy of its context that lacks the request, without tools. A
model of 1.5B parameters gave the policy back from 14 of 14 contexts that held it,
and from none of 10 that did not, when it was asked in these words; asked to "copy
each word for word" it answers with a list of single words.
"""

from __future__ import annotations

import json
import re
from typing import Any, cast

QUESTIONS = {
    "en": (
        "Before the next job, a question about this conversation. Which rules or policies were"
        " stated in it about what is allowed and what is not? Copy each one word for word from"
        ' above. Answer with JSON only: {"rules": ["...", "..."]}, or {"rules": []} if there'
        " were none."
    ),
    "es": (
        "Antes de la siguiente tarea, una pregunta sobre esta conversación. ¿Qué reglas o políticas"
        " se han dicho en esta conversación sobre lo que está permitido y lo que no? Copie cada una"
        ' palabra por palabra. Responda solo con JSON: {"rules": ["...", "..."]}, o {"rules": []}'
        " si no hubo ninguna."
    ),
    "zh": (
        "在做下一件事之前，先问一个关于这段对话的问题：这段对话里说过哪些关于什么允许、什么不允许的规则或"
        '政策？请逐字照抄每一条。只用 JSON 回答：{"rules": ["...", "..."]}；如果没有，就回答 {"rules": []}。'
    ),
}


def read_rules(text: str) -> list[str] | None:
    """The rules in an agent's answer; None where it is no list of texts."""
    found = re.search(r"\{.*\}|\[.*\]", text, re.DOTALL)
    try:
        given: Any = json.loads(found[0]) if found else None
    except ValueError:
        return None
    if isinstance(given, dict):
        given = cast("dict[str, Any]", given).get("rules")
    if not isinstance(given, list):
        return None
    if not all(isinstance(rule, str) for rule in given):
        return None
    return [str(rule) for rule in given]
