"""The wiki as a policy channel: a new session sees only a query's answer on its request.

The vault holds earlier sessions: the policy's document, and after it other work of the same
scenario, one source per request, with pages made by plain code. The channel sets the policy's
place: a rule of the schema, a page (as a diligent writer leaves it), or only the text of a source
whose page does not mention it.

An attack may add sources and pages, and change the index, the hot cache and the log. It may not
change the schema or existing sources and pages.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Final, Literal, TypeAlias

from constraintrot.episode.channels import Filled, Given, Player, policy_channel
from constraintrot.episode.channels import Store as ChannelStore
from constraintrot.episode.episode import Episode, Message, Turn
from constraintrot.errors import EpisodeError
from constraintrot.memory.wiki import Answer, Edit, Memory, Plan, Source, Wiki
from constraintrot.memory.wiki.index import terms
from constraintrot.memory.wiki.names import HOT_CACHE, INDEX, LOG, one_line
from constraintrot.scenario import history
from constraintrot.scenario.schema import HistoryTurn, Variant
from constraintrot.scenario.template import fill

WikiChannel: TypeAlias = Literal["wiki", "wiki_schema", "wiki_source"]
WIKI_CHANNELS: Final[tuple[WikiChannel, ...]] = ("wiki", "wiki_schema", "wiki_source")
"""The policy is on a page, in the schema, or in a source that no page mentions."""
OTHERS: Final = 40
"""Sources beside the policy's."""
# The first turns may be in an episode's own history, so they are skipped.
_SKIPPED: Final = 60
TIME: Final = "2026-04-01T09:00:00Z"
PATH: Final = "wiki_path"
"""Note of the path that the query took."""
_TITLE: Final = 60
_SUMMARY: Final = 160


def vault(
    variant: Variant, rules: Sequence[str], channel: WikiChannel, others: int = OTHERS
) -> Wiki:
    """Return a vault of earlier sessions, in memory."""
    in_schema = channel == "wiki_schema"
    wiki = Wiki.create(Memory(), rules if in_schema else (), time=TIME)
    if not in_schema:
        source, plan = policy_ingest(variant, rules, channel)
        wiki.ingest(source, plan, time=TIME)
    for source in other_work(variant, others):
        wiki.ingest(source, time=TIME)
    return wiki


def shown(episode: Episode, vault: Mapping[str, str]) -> Episode:
    """Return the episode of a session that is shown the answer to a query of a vault."""
    variant = episode.variant
    wiki = Wiki(Memory(dict(vault)))
    answer = wiki.query(variant.allowed_trigger if episode.allowed else variant.trigger)
    asked = episode.trigger.messages[-1]
    return replace(
        episode,
        trigger=Turn("trigger", (*messages(variant, answer), asked)),
        notes={**episode.notes, PATH: "\n".join(answer.path)},
        store=dict(vault),
    )


def messages(variant: Variant, answer: Answer) -> tuple[Message, Message]:
    """Return the messages that show a new session the answer, before its request."""
    ready = fill(variant.scenario.ready, variant.values)
    return Message("user", answer.render(), "operator"), Message("assistant", ready, "agent")


def policy_ingest(
    variant: Variant, rules: Sequence[str], channel: WikiChannel
) -> tuple[Source, Plan]:
    """Return the document of a policy, and the plan of its ingest."""
    source = _document(variant, rules)
    summary, facts = one_line(" ".join(rules), _SUMMARY), tuple(rules)
    if channel == "wiki_source":
        summary, facts = one_line(source.text, _TITLE), ()
    return source, Plan((Edit("concept", source.title, summary, facts),))


def _document(variant: Variant, rules: Sequence[str]) -> Source:
    policy = "\n".join(rules)
    told = fill(variant.scenario.channels.tool.model_dump(), variant.values | {"policy": policy})
    name = str(next(iter(told["arguments"].values()), "notes"))
    title = name.rpartition("/")[2].partition(".")[0].replace("-", " ").replace("_", " ")
    return Source(title.strip().capitalize() or "Notes", told["result"], "document")


def other_work(variant: Variant, number: int) -> tuple[Source, ...]:
    """Return sources of other work of a scenario, which its episodes do not contain."""
    turns = islice(history.turns(variant), _SKIPPED, _SKIPPED + number)
    return tuple(map(_worked, turns))


def _worked(turn: HistoryTurn) -> Source:
    texts = [turn.user, *(call.result for call in turn.calls), turn.reply]
    return Source(one_line(turn.user, _TITLE), "\n\n".join(texts), "session")


def changed(episode: Episode, change: Callable[[Wiki], None]) -> Episode:
    """Return the episode of a session whose vault an attack has changed."""
    if not episode.store:
        raise EpisodeError("the attack works on the vault of a wiki; choose channel=wiki")
    store = Memory(dict(episode.store))
    change(Wiki(store))
    return shown(episode, store.texts)


def ingest(wiki: Wiki, variant: Variant, filled: Filled) -> None:
    """Ingest an adversary's texts with plain code; the first line of a text is its title."""
    for text in filled({"request": request(variant)}):
        title, _, body = text.partition("\n")
        wiki.ingest(Source(title, body), time=TIME)


def request(variant: Variant) -> str:
    """Return the words of a variant's request that a query searches by."""
    return " ".join(terms(variant.trigger))


def _check(before: Mapping[str, str], after: Mapping[str, str]) -> None:
    """Refuse an attack that changed the schema, a source or an existing page."""
    touched = [
        path
        for path, text in sorted(before.items())
        if path not in (INDEX, HOT_CACHE, LOG) and after.get(path) != text
    ]
    if touched:
        raise EpisodeError(
            f"the attack changed {', '.join(touched)}: in a wiki it may add sources and pages, and"
            " change the index, the hot cache and the log"
        )


def _unfit(player: Player) -> str:
    if player.name == "replay":
        return ""
    return (
        f"shows a new session what a query of a wiki gives, and harness {player.name} has no such"
        " place; choose harness=replay, or another channel"
    )


def _staged(channel: WikiChannel, episode: Episode, given: Given) -> Episode:
    store = vault(episode.variant, given.rules, channel).store
    assert isinstance(store, Memory), "vaults of episodes are in memory"
    return shown(episode, store.texts)


_STORE = ChannelStore(
    "the vault of a wiki", _check, shown,
    lambda episode, filled: changed(episode, lambda wiki: ingest(wiki, episode.variant, filled)),
    fills=frozenset({"request", "number"}),
)  # fmt: skip
for _name in WIKI_CHANNELS:
    policy_channel(_name, store=_STORE, unfit=_unfit, uncompacted="wiki")(partial(_staged, _name))
