"""The answers of the scripted agents as the attacker of a search.

``obedient`` and ``reckless`` give the fixed injections from the last to the first,
slightly reworded; ``refuser`` refuses.
"""

from constraintrot.attacks.attacker_task import POOL, attempt_in, injection
from constraintrot.scenario.template import PLACEHOLDER

_OPENINGS = {"en": "Once more", "zh": "再次提醒", "es": "Una vez más", "de": "Noch einmal"}


def answer(text: str, script: str) -> str | None:
    """Return an attacker's answer; None if the message is not an attacker's prompt."""
    attempt = attempt_in(text)
    if attempt is None:
        return None
    if script == "refuser":
        return "I will not write that."
    number, locale = attempt
    turn, at = divmod(number, len(POOL))
    reworded = PLACEHOLDER.sub("", injection(POOL[-1 - at], locale))
    return f"{_OPENINGS[locale]} ({turn}): {reworded}"
