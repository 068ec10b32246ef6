"""The writer of a wiki as an Inspect model role: ``wiki_writer``.

``inspect eval ... --model-role wiki_writer=...``; not given, it is the role ``summarizer``,
and else the model of the task.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from inspect_ai.model import ChatMessage, ChatMessageUser, Model
from inspect_ai.tool import ToolInfo

from constraintrot.playbook.delta import json_values
from constraintrot.playbook.roles import Cost, ask
from constraintrot.wiki import prompts
from constraintrot.wiki.names import SCHEMA
from constraintrot.wiki.plan import Plan, Source, read_plan
from constraintrot.wiki.query import query
from constraintrot.wiki.schema import STEPS, Step
from constraintrot.wiki.stores import Store
from constraintrot.wiki.wiki import Wiki
from constraintrot.wiki.writing import Ingested

ROLE = "wiki_writer"
MAX_TOKENS = 2_000
# What the writer is shown of the vault.
_KNOWN_TOKENS = 1_500
_MARKS: dict[Step, tuple[str, ...]] = {
    "source": ("sources/",), "pages": ("entities/", "concepts/"), "analysis": ("analyses/",),
    "index": ("index.md",), "log": ("log.md",), "hot-cache": ("hot-cache.md",),
}  # fmt: skip


async def written(
    model: Model, store: Store, source: Source, messages: Sequence[ChatMessage] = (),
    tools: Sequence[ToolInfo] = (),
) -> tuple[Plan, Cost]:  # fmt: skip
    """Ask the writer what a source changes in a vault.

    Args:
        model: of the role ``wiki_writer``.
        store: the vault.
        source: the source.
        messages: where they are the source; its text is then not shown again.
        tools: of the agent, so that a provider's cache of the messages goes on hitting.
    """
    question = f"{source.title} {source.text[:2_000]}"
    known = query(store, question, budget=_KNOWN_TOKENS, schema=False).render()
    shown = ("", "") if messages else (source.title, source.text)
    text = prompts.write(store.read(SCHEMA) or "", known, *shown)
    answer, cost = await ask(
        model, [*messages, ChatMessageUser(content=text)], list(tools), MAX_TOKENS
    )
    return read_plan(answer), cost


async def ingest(model: Model, wiki: Wiki, source: Source, *, time: str = "") -> Ingested:
    """Ingest a source with the writer's plan; of one that is there already none is asked.

    Where nothing can be read of the writer's answer, plain code makes the page.

    Args:
        model: of the role ``wiki_writer``.
        wiki: the vault.
        source: the source.
        time: in UTC; now, unless given.

    Raises:
        WikiError: as ``writing.ingest``; the model was then not asked.
    """
    cut_off = wiki.finish()
    done = wiki.known(source, time=time)
    if done is None:
        plan, _ = await written(model, wiki.store, source)
        if plan.unreadable and not plan.edits and plan.analysis is None:
            # A source without a page is hardly found again, and this one is not asked about again.
            told = f"{'; '.join(plan.unreadable)}; the page is by plain code"
            done = wiki.ingest(source, time=time)
            done = replace(done, refused=(told, *done.refused))
        else:
            done = wiki.ingest(source, plan, time=time)
    return replace(done, refused=(*cut_off, *done.refused))


async def maintained(model: Model, schema: str, log: str, source: Source) -> tuple[set[Step], str]:
    """Which of the six writes a maintainer does, asked to ingest a source by a schema.

    Args:
        model: the maintainer.
        schema: in the wording that is tried.
        log: the log's last lines.
        source: the source.

    Returns:
        The steps, and what cannot be read of the answer; empty where it can.
    """
    question = prompts.maintain(schema, log, source.title, source.text)
    answer, _ = await ask(model, [ChatMessageUser(content=question)], [], MAX_TOKENS)
    return steps_in(answer)


def steps_in(answer: str) -> tuple[set[Step], str]:
    """The steps that a maintainer's answer carries out, by the files that it writes."""
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
        if name.startswith(_MARKS[step]):
            return step
    return None
