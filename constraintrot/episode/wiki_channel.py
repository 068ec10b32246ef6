"""The policy in a wiki: a new session is shown what a query on its request gives, and no more.

The vault is of earlier sessions: the policy's document was ingested first, and after it other
work of the same scenario, one source a request, with the pages that plain code makes. Where the
policy is, is the channel: a rule of the schema, a page (as a writer leaves it who does its work),
or only the text of a source whose page does not mention it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from constraintrot.episode.episode import Episode, Message, Turn
from constraintrot.scenario import history
from constraintrot.scenario.schema import HistoryTurn, Variant, WikiChannel
from constraintrot.scenario.template import fill
from constraintrot.wiki import Answer, Edit, Memory, Plan, Source, Wiki
from constraintrot.wiki.names import one_line

OTHERS: Final = 40
"""Sources beside the policy's."""
# Turns that no episode's own history comes to.
_SKIPPED: Final = 60
TIME: Final = "2026-04-01T09:00:00Z"
PATH: Final = "wiki_path"
"""Note of the path that the query took."""
_TITLE: Final = 60
_SUMMARY: Final = 160


def vault(
    variant: Variant, rules: Sequence[str], channel: WikiChannel, others: int = OTHERS
) -> Wiki:
    """A vault of earlier sessions, in memory.

    Args:
        variant: whose scenario.
        rules: the policy and what stands beside it, or neutral texts.
        channel: where they are.
        others: sources beside theirs.
    """
    in_schema = channel == "wiki_schema"
    wiki = Wiki.create(Memory(), rules if in_schema else (), time=TIME)
    if not in_schema:
        source, plan = policy_ingest(variant, rules, channel)
        wiki.ingest(source, plan, time=TIME)
    for source in other_work(variant, others):
        wiki.ingest(source, time=TIME)
    return wiki


def files(wiki: Wiki) -> dict[str, str]:
    """The files of a vault in memory, by path."""
    assert isinstance(wiki.store, Memory), "vaults of episodes are in memory"
    return wiki.store.texts


def asked(variant: Variant, rules: Sequence[str], channel: WikiChannel, request: str) -> Answer:
    """What a query on the request gives."""
    return vault(variant, rules, channel).query(request)


def shown(episode: Episode, vault: Mapping[str, str]) -> Episode:
    """The episode of a session that is shown what a query of a vault gives.

    Args:
        episode: whose request is the question.
        vault: its files, by path.
    """
    variant = episode.variant
    wiki = Wiki(Memory(dict(vault)))
    answer = wiki.query(variant.allowed_trigger if episode.allowed else variant.trigger)
    asked = episode.trigger.messages[-1]
    return replace(
        episode,
        trigger=Turn("trigger", (*messages(variant, answer), asked)),
        notes={**episode.notes, PATH: "\n".join(answer.path)},
        vault=dict(vault),
    )


def messages(variant: Variant, answer: Answer) -> tuple[Message, Message]:
    """What a new session is shown of the wiki, before its request."""
    ready = fill(variant.scenario.ready, variant.values)
    return Message("user", answer.render(), "operator"), Message("assistant", ready, "agent")


def policy_ingest(
    variant: Variant, rules: Sequence[str], channel: WikiChannel
) -> tuple[Source, Plan]:
    """The document of a policy, and what is written of it."""
    source = _document(variant, rules)
    return source, _plan(source, rules, channel)


def _document(variant: Variant, rules: Sequence[str]) -> Source:
    policy = "\n".join(rules)
    told = fill(variant.scenario.channels.tool.model_dump(), variant.values | {"policy": policy})
    name = str(next(iter(told["arguments"].values()), "notes"))
    title = name.rpartition("/")[2].partition(".")[0].replace("-", " ").replace("_", " ")
    return Source(title.strip().capitalize() or "Notes", told["result"], "document")


def _plan(source: Source, rules: Sequence[str], channel: WikiChannel) -> Plan:
    if channel == "wiki_source":
        return Plan((Edit("concept", source.title, one_line(source.text, _TITLE)),))
    summary = one_line(" ".join(rules), _SUMMARY)
    return Plan((Edit("concept", source.title, summary, tuple(rules)),))


def other_work(variant: Variant, number: int) -> tuple[Source, ...]:
    """Sources of other work of a scenario, none of which its episodes have."""
    turns = islice(history.turns(variant), _SKIPPED, _SKIPPED + number)
    return tuple(map(_worked, turns))


def _worked(turn: HistoryTurn) -> Source:
    return Source(one_line(turn.user, _TITLE), "\n\n".join(_texts(turn)), "session")


def _texts(turn: HistoryTurn) -> Iterator[str]:
    yield turn.user
    for call in turn.calls:
        yield call.result
    yield turn.reply
