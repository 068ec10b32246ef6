"""The writer of a wiki as an Inspect model role: ``wiki_writer``.

``inspect eval ... --model-role wiki_writer=...``; the default is the role ``summarizer``, else the
model of the task.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from inspect_ai.model import ChatMessage, ChatMessageUser, Model
from inspect_ai.tool import ToolInfo

from constraintrot.memory.playbook.roles import Cost, ask
from constraintrot.memory.wiki.names import SCHEMA
from constraintrot.memory.wiki.plan import Plan, Source, read_plan
from constraintrot.memory.wiki.query import query
from constraintrot.memory.wiki.stores import Store
from constraintrot.memory.wiki.wiki import Wiki
from constraintrot.memory.wiki.writing import Ingested

WRITER: Final = "You are the writer of a wiki."
SCHEMA_HEAD: Final = "The schema of the wiki:\n"
SOURCE_HEAD: Final = "The source:\n"
_FORM: Final = """Answer with one JSON object and nothing else:
{"pages": [{"kind": "entity|concept", "title": "...", "summary": "one line, by which the page is found",
  "add": ["a fact", "..."], "links": ["title of a related page"]}],
 "analysis": {"title": "...", "summary": "...", "add": ["..."]} or null}"""
_WRITE: Final = """{role}
{about} Bring the wiki up to date with it: which pages are to be made or added to, each for one person, company, \
project or idea. Facts that will be needed again; word for word every rule, limit or prohibition that was given and \
still holds. Do not repeat what is there.
{schema}
{known}
{source}{form}"""


def source_in(question: str) -> str:
    """Return the source in a question, with its title, for scripted models."""
    return question.partition(SOURCE_HEAD)[2]


ROLE = "wiki_writer"
MAX_TOKENS = 2_000
# The most that the writer is shown of the vault.
_KNOWN_TOKENS = 1_500


async def written(
    model: Model, store: Store, source: Source, messages: Sequence[ChatMessage] = (),
    tools: Sequence[ToolInfo] = (),
) -> tuple[Plan, Cost]:  # fmt: skip
    """Ask the writer for the plan of a source's ingest.

    Messages are the source, if given, and its text is then not shown again. The tools are the
    agent's, so that a provider's cache of the messages still hits.
    """
    searched = f"{source.title} {source.text[:2_000]}"
    below = bool(source.text) and not messages
    question = _WRITE.format(
        role=WRITER, about="A source is below." if below else "Above is what happened.",
        schema=f"{SCHEMA_HEAD}{(store.read(SCHEMA) or '').strip()}\n~~~\n",
        known=query(store, searched, budget=_KNOWN_TOKENS, schema=False).render(),
        source=f"{SOURCE_HEAD}{source.title}\n\n{source.text}\n\n" if below else "", form=_FORM,
    )  # fmt: skip
    answer, cost = await ask(
        model, [*messages, ChatMessageUser(content=question)], list(tools), MAX_TOKENS
    )
    return read_plan(answer), cost


async def ingest(model: Model, wiki: Wiki, source: Source, *, time: str = "") -> Ingested:
    """Ingest a source with the writer's plan; for a source that is already there no model is asked.

    If the writer's answer cannot be read at all, plain code makes the page.
    """
    cut_off = wiki.finish()
    done = wiki.known(source, time=time)
    if done is None:
        plan, _ = await written(model, wiki.store, source)
        if plan.unreadable and not plan.edits and plan.analysis is None:
            # A source without a page is hardly found again, and no later run would ask about it.
            told = f"{'; '.join(plan.unreadable)}; the page is by plain code"
            done = wiki.ingest(source, time=time)
            done = replace(done, refused=(told, *done.refused))
        else:
            done = wiki.ingest(source, plan, time=time)
    return replace(done, refused=(*cut_off, *done.refused))
