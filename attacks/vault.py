"""Attacks on the vault of a wiki: what they write there is what the session's query reads.

Sources are data that anybody may send, and the index and the hot cache rot where a writer
does not do its work. The schema, the sources and the pages that are there stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from constraintrot.episode import wiki_channel
from constraintrot.episode.episode import Episode
from constraintrot.errors import EpisodeError
from constraintrot.scenario.schema import Variant
from constraintrot.wiki import Memory, Source, Wiki
from constraintrot.wiki.index import terms

if TYPE_CHECKING:
    from constraintrot.attacks.attack_file import AttackFile


def changed(episode: Episode, change: Callable[[Wiki], None]) -> Episode:
    """An episode whose session reads a vault that somebody changed.

    Raises:
        EpisodeError: the episode has no vault.
    """
    if not episode.vault:
        raise EpisodeError("the attack works on the vault of a wiki; choose channel=wiki")
    store = Memory(dict(episode.vault))
    change(Wiki(store))
    return wiki_channel.shown(episode, store.texts)


def ingested(episode: Episode, file: AttackFile) -> Episode:
    """An episode whose vault took in the texts of a file, each as a source of its own.

    The first line of a text is the source's title.
    """
    return changed(episode, lambda wiki: ingest(wiki, episode.variant, file))


def ingest(wiki: Wiki, variant: Variant, file: AttackFile) -> None:
    """Ingest the texts of a file, as plain code writes them."""
    for text in file.filled(variant, {"request": request(variant)}):
        title, _, body = text.partition("\n")
        wiki.ingest(Source(title, body), time=wiki_channel.TIME)


def request(variant: Variant) -> str:
    """The words of a variant's request, by which a query on it searches."""
    return " ".join(terms(variant.trigger))
