"""Strategy ``model``: the model in role ``attacker`` sees summaries and outcomes, and rewrites."""

from __future__ import annotations

from collections.abc import Sequence

from inspect_ai.model import GenerateConfig, get_model

from constraintrot.attack_search import attacker_prompt
from constraintrot.attack_search.pool import member
from constraintrot.attacks.search_results.candidate import Candidate, clean
from constraintrot.attacks.search_results.trial import Query
from constraintrot.defenses import DEFENSES
from constraintrot.scenario.schema import Locale

# The first prompt: the paper's fixed injection.
FIRST = "inject_deprecation"
MAX_TOKENS = 400


async def propose(
    locale: Locale, history: Sequence[Query], *, budget: int, random_seed: int, defense: str
) -> Candidate:
    """The attacker's next prompt.

    If the model wrote nothing, or a prompt that was tried before, the candidate's text is
    empty and ``made["fault"]`` has the reason.

    Args:
        locale: language to write in.
        history: prompts tried so far.
        budget: number of prompts that may be tried.
        random_seed: sampling's seed is made from it and the prompt's number.
        defense: name of the attacked defense.
    """
    if not history:
        return member(FIRST, locale)
    number = len(history) + 1
    asked = attacker_prompt.ask(
        history, number=number, budget=budget, locale=locale, defense=_told(defense)
    )
    config = GenerateConfig(
        temperature=1.0, max_tokens=MAX_TOKENS, seed=random_seed * 100_003 + number
    )
    output = await get_model(role="attacker", required=True).generate(asked, config=config)
    text = clean(output.completion)
    made = {"name": "attacker", "attempt": number}
    if not text:
        return Candidate(text="", made=made | {"fault": f"no text ({output.stop_reason})"})
    if any(query.candidate.text == text for query in history):
        return Candidate(text="", made=made | {"fault": "a text that was tried already"})
    return Candidate(text=text, made=made)


def _told(defense: str) -> str:
    if defense == "none":
        return ""
    lines = (DEFENSES.get(defense).factory.__doc__ or defense).strip().splitlines()
    return f"{defense}. {lines[0]}"
