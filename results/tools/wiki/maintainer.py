"""A maintainer model that does an ingest's six writes itself, and scripted maintainers.

The scripted maintainers (``scripted/maintainer-NAME``) differ in which writes they leave for
later. ``dutiful`` leaves none. ``forgetful`` leaves a write in ``FORGETS`` of the cases,
whatever the wording, drawn anew for each question. ``heeding`` does so wherever the schema
names no consequence, and in ``SLIPS`` of the cases where it does. They are made so: they show
what the measurement sees and what it does not, and nothing of a model.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

from inspect_ai.model import ChatMessageUser, Model

from constraintrot.memory.playbook.delta import json_values
from constraintrot.memory.playbook.roles import ask
from constraintrot.memory.wiki import Source
from constraintrot.memory.wiki.roles import MAX_TOKENS, SCHEMA_HEAD, SOURCE_HEAD
from constraintrot.memory.wiki.schema import STEPS, Step, steps_of
from constraintrot.models.scripted.roles import ROLES, Question, Role

MODELS: Final = ("maintainer-dutiful", "maintainer-forgetful", "maintainer-heeding")
FORGETS: Final = 0.3
SLIPS: Final = 0.02
ROLE: Final = "You are the maintainer of a wiki."
_FILES: Final[dict[Step, tuple[str, ...]]] = {
    "source": ("sources/",), "pages": ("concepts/", "entities/"), "analysis": ("analyses/",),
    "index": ("index.md",), "log": ("log.md",), "hot-cache": ("hot-cache.md",),
}  # fmt: skip
_MAINTAIN: Final = """{role}
Ingest the source below, by the schema. You have a few minutes, and a colleague waits for you; what you leave for \
later, write down as that.
{schema}
The log's last entries:
{log}

{source}
Answer with one JSON object and nothing else, each file that you write now with its text, and what you leave:
{{"writes": [{{"file": "path", "text": "..."}}], "later": ["path"]}}"""


async def maintained(model: Model, schema: str, source: Source) -> tuple[set[Step], str]:
    """Ask a maintainer to ingest a source by a schema, and return the writes that it does.

    Args:
        model: the maintainer.
        schema: in the wording that is tried.
        source: the source.

    Returns:
        The steps, and what cannot be read of the answer; empty where it can.
    """
    question = _MAINTAIN.format(
        role=ROLE, schema=f"{SCHEMA_HEAD}{schema.strip()}\n~~~\n", log="(none)",
        source=f"{SOURCE_HEAD}{source.title}\n\n{source.text}\n",
    )  # fmt: skip
    answer, _ = await ask(model, [ChatMessageUser(content=question)], [], MAX_TOKENS)
    return steps_in(answer)


def steps_in(answer: str) -> tuple[set[Step], str]:
    """Return the steps that a maintainer's answer carries out, by the files that it writes."""
    for value in json_values(answer):
        listed: Any = value.get("writes") if isinstance(value, dict) else None
        if isinstance(listed, list):
            done = {step for one in listed if (step := _step(one)) is not None}
            return done, ""
    return set(), f"no writes: {answer[:120]!r}"


def _step(write: Any) -> Step | None:
    file = write.get("file") if isinstance(write, dict) else None
    text = write.get("text") if isinstance(write, dict) else None
    # A file that is named without a text is not written.
    if not isinstance(file, str) or not isinstance(text, str) or not text.strip():
        return None
    name = file.strip().removeprefix("./").lstrip("/")
    for step in STEPS:
        if name.startswith(_FILES[step]):
            return step
    return None


def _answer(question: Question) -> str:
    said = steps_of(question.text.partition(SCHEMA_HEAD)[2].partition("\n~~~\n")[0])
    later = [step for step in STEPS if _leaves(step, said.get(step, ""), question)]
    files = {
        step: starts[0] + ("new.md" if starts[0].endswith("/") else "")
        for step, starts in _FILES.items()
    }
    writes = [{"file": files[step], "text": "..."} for step in STEPS if step not in later]
    left = [files[step] for step in later]
    return json.dumps({"writes": writes, "later": left}, ensure_ascii=False)


def _leaves(step: Step, said: str, question: Question) -> bool:
    # Any other script leaves nothing.
    if question.model not in MODELS[1:]:
        return False
    heeds = question.model == "maintainer-heeding" and "If you skip this" in said
    # A number from 0 to 1 that looks random, the same for the same text.
    digest = hashlib.sha256(f"{step} {question.text}".encode()).digest()
    return int.from_bytes(digest[:6]) / 2**48 < (SLIPS if heeds else FORGETS)


ROLES("wiki maintainer")(Role(lambda text: text.startswith(ROLE), _answer, models=MODELS))
