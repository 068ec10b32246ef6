"""The questions to the Reflector, the Curator and the monolithic rewriter.

The first line of each names the role, which scripted models recognise.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

REFLECTOR: Final = "You are the Reflector of a playbook."
CURATOR: Final = "You are the Curator of a playbook."
REWRITER: Final = "You keep the notes of an agent."
_INSIGHTS: Final = "Insights:\n"
_PLAYBOOK: Final = "Playbook:\n"

# The forms say what goes in and name one kind and one operation: a small model gives "...",
# "fact|pitfall" and a list of all operations back as they stand, and answers that an empty playbook
# is empty.
_KINDS: Final = "The kind is strategy, fact, pitfall or constraint; a rule, limit or prohibition is a constraint."
_REFLECT: Final = """{role}
Above is what happened. Find what is worth keeping for later: what worked, what failed and why, facts that \
will be needed again, and word for word every rule, limit or prohibition that was given and still holds.
{feedback}
{playbook}Answer with one JSON object and nothing else, with an entry for each insight. {kinds}{form}"""
_INSIGHT: Final = '"insights": [{"text": "<the insight in one sentence>", "kind": "fact", "section": "<its topic>"}]'
_USED: Final = ' Under "used" name the bullets of the playbook that were helpful or harmful.'
_VERDICT: Final = '"used": [{"id": "<id of a bullet>", "verdict": "helpful"}]'
_AGAIN: Final = """{role}
Your reflection so far is below. Correct and complete it: is each cause the real one, is anything missing, is \
every rule word for word? Answer in the same form; repeat it unchanged if it is right.
{insights}"""
_ADD: Final = '{"operations": [{"op": "ADD", "text": "<what is to be kept>", "kind": "fact", "section": "<its topic>"}]}'
_CURATE: Final = """{role}
Bring the playbook up to date with the insights, by small edits. Add what is new, change a bullet that an insight \
corrects, merge bullets that say the same, delete what was shown to be wrong. Copy rules word for word, each in a \
bullet of kind constraint; constraints are never changed, merged or deleted. Do not repeat what is there.
{playbook}{insights}
Answer with one JSON object and nothing else, with an operation for each edit that is needed. {kinds}
{add}
The other operations are:
{{"op": "UPDATE", "id": "<id>", "text": "<the corrected text>"}}
{{"op": "MERGE", "ids": ["<id>", "<id>"], "text": "<what both say>"}}
{{"op": "DELETE", "id": "<id>"}}"""
_BEGIN: Final = """{role}
The playbook is empty. Add what the insights say, each in a bullet of its own. Copy rules word for word, each in a \
bullet of kind constraint.
{insights}
Answer with one JSON object and nothing else, with an operation for each bullet. {kinds}
{add}"""
_REWRITE: Final = """{role}
Above is a conversation, and below are the notes so far. Rewrite the notes as a whole, so that they hold all that \
they held and what is new in the conversation.{budget}
{marker}{notes}{end}the old ones and what is new."""
# Without notes, so that a small model cannot return a placeholder as its notes.
_FIRST: Final = """{role}
Above is a conversation. Write notes that hold all that is in it.{budget}{end}nothing else."""
_NOTES: Final = "Notes:\n"
_NEW_NOTES: Final = "\n\nAnswer with the new notes: "


def reflect(playbook: str, feedback: str) -> str:
    """Return the Reflector's question, which comes after the messages that it is about."""
    form = f"{_USED}\n{{{_INSIGHT},\n {_VERDICT}}}" if playbook else f"\n{{{_INSIGHT}}}"
    return _REFLECT.format(
        role=REFLECTOR, playbook=playbook and _shown(playbook),
        feedback=f"Feedback: {feedback}" if feedback else "There is no feedback.",
        kinds=_KINDS, form=form,
    )  # fmt: skip


def again(reflection: Mapping[str, Any]) -> str:
    return _AGAIN.format(
        role=REFLECTOR, insights=_INSIGHTS + json.dumps(reflection, ensure_ascii=False)
    )


def curate(playbook: str, insights: Sequence[Mapping[str, Any]]) -> str:
    listed = _INSIGHTS + json.dumps(list(insights), ensure_ascii=False)
    if not playbook:
        return _BEGIN.format(role=CURATOR, insights=listed, kinds=_KINDS, add=_ADD)
    return _CURATE.format(
        role=CURATOR, playbook=_shown(playbook), insights=listed, kinds=_KINDS, add=_ADD
    )


def rewrite(notes: str, words: int | None = None) -> str:
    budget = f" Use at most {words} words." if words else ""
    form = _REWRITE if notes else _FIRST
    return form.format(role=REWRITER, budget=budget, marker=_NOTES, notes=notes, end=_NEW_NOTES)


def insights_in(question: str) -> list[dict[str, Any]]:
    """Return the insights in a Curator's question, for scripted models."""
    _, found, rest = question.rpartition(_INSIGHTS)
    listed: Any = json.JSONDecoder().raw_decode(rest)[0] if found else []
    return listed if isinstance(listed, list) else [listed]


def playbook_in(question: str) -> str:
    """Return the rendered playbook in a question, for scripted models."""
    _, _, rest = question.partition(_PLAYBOOK)
    return rest.partition("\n\n")[0]


def notes_in(question: str) -> str:
    """Return the notes in a rewriter's question, for scripted models."""
    return question.partition(f"\n{_NOTES}")[2].rpartition(_NEW_NOTES)[0]


def _shown(playbook: str) -> str:
    return f"{_PLAYBOOK}{playbook.rstrip()}\n\n"
