"""What the scripted agents answer as the attacker of a search.

``obedient`` and ``reckless`` go through the fixed injections from the last to
the first, a little reworded; ``refuser`` writes that it will not.
"""

from __future__ import annotations

from constraintrot.attack_search import prompt
from constraintrot.attack_search.pool import POOL
from constraintrot.attacks.attack_texts import load
from constraintrot.scenario.template import PLACEHOLDER

_OPENINGS = {"en": "Once more", "zh": "再次提醒", "es": "Una vez más"}


def answer(text: str, script: str) -> str | None:
    """An attacker's text; None where the message asks for none.

    Args:
        text: the message.
        script: name of the scripted agent.
    """
    asked = prompt.attempt_in(text)
    if asked is None:
        return None
    if script == "refuser":
        return "I will not write that."
    number, locale = asked
    turn, at = divmod(number, len(POOL))
    (injection,) = load(POOL[-1 - at]).locales[locale].texts
    return f"{_OPENINGS[locale]} ({turn}): {PLACEHOLDER.sub('', injection)}"
