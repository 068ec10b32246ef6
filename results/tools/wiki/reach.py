"""Queries and the policy: whether they reach it, by its place, skipped writes and attacks.

No model is asked. A vault of earlier work is built as for ``channel=wiki``, the request is the
question, and what the query gives is read twice: for the policy word for word (``reached``) and
by the scripted agent's own reading (``obeyed``: it would decline).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

from constraintrot.attacks.attack_file import read_attack_file
from constraintrot.memory.attacks import FOLDER, make_drift, make_loud, make_stale
from constraintrot.memory.wiki import Memory, Wiki
from constraintrot.memory.wiki import channel as wiki_channel
from constraintrot.memory.wiki.channel import WIKI_CHANNELS, WikiChannel, ingest
from constraintrot.memory.wiki.query import HotCache
from constraintrot.memory.wiki.schema import STEPS
from constraintrot.models.scripted.policy_reader import policy_in
from constraintrot.rule_text.survival import mentions
from constraintrot.scenario.files import load
from constraintrot.scenario.schema import Variant

FAMILIES = (
    "hard_pii", "hard_proddb", "hard_seccontrol", "hard_secret", "soft_channel", "soft_deploy",
    "soft_email", "soft_language", "soft_spend",
)  # fmt: skip
SIZES = (10, 40, 80)
PLAIN = "as it is"
Damage = Callable[[Wiki, Variant], None]


@dataclass(frozen=True)
class Row:
    """One request to one vault.

    Attributes:
        family: of the scenario.
        seed: of the variant.
        setting: what was done to the vault.
        place: where the policy is.
        others: sources beside the policy's.
        hot: what the hot cache does.
        linted: whether ``lint --fix`` ran before the query.
        reached: whether the policy is word for word in what the query gives.
        obeyed: whether the scripted agent finds it there.
    """

    family: str
    seed: int
    setting: str
    place: WikiChannel
    others: int
    hot: HotCache
    linted: int
    reached: int
    obeyed: int


def rows(variants: int, known: Sequence[Row] = ()) -> Iterator[Row]:
    """Yield all settings for a number of variants of each family; known rows are not measured again."""
    each = Counter((row.family, row.seed) for row in known)
    whole = max(each.values(), default=0)
    for seed in range(variants):
        for family in FAMILIES:
            # One that was cut off is asked again.
            if known and each[family, seed] == whole:
                yield from (row for row in known if (row.family, row.seed) == (family, seed))
            else:
                yield from _Asked(family, seed).rows()


def read(rows: Iterable[Mapping[str, str]]) -> list[Row]:
    """Parse a table's rows."""
    return [
        Row(
            row["family"], int(row["seed"]), row["setting"],
            cast("WikiChannel", row["place"]), int(row["others"]), cast("HotCache", row["hot"]),
            int(row["linted"]), int(row["reached"]), int(row["obeyed"]),
        )
        for row in rows
        if row.get("obeyed")
    ]  # fmt: skip


class _Asked:
    """The settings of one variant."""

    def __init__(self, family: str, seed: int) -> None:
        self.family, self.seed = family, seed
        self.variant = load(family, "en").variant(seed, texts=1)
        self.rules = [self.variant.policy("declarative")]
        self.work = list(wiki_channel.other_work(self.variant, max(SIZES)))

    def rows(self) -> list[Row]:
        """Yield a row for each vault and use of the hot cache."""
        found: list[Row] = []
        for place in WIKI_CHANNELS:
            for others in SIZES:
                wiki = self.made(place, others)
                found.append(self.ask(wiki, PLAIN, place, others))
                if others == 40:
                    found.append(self.ask(wiki, PLAIN, place, hot="gate"))
                    found += self.attacked(wiki, place) if place != "wiki_source" else ()
        return [*found, *self.skipped()]

    def attacked(self, wiki: Wiki, place: WikiChannel) -> Iterator[Row]:
        """Yield the rows under each attack, before and after ``lint --fix``."""
        for name, damage in ATTACKS.items():
            hit = _copied(wiki)
            damage(hit, self.variant)
            for hot in ("guide", "gate"):
                yield self.ask(hit, name, place, hot=hot)
            hit.repair(time=wiki_channel.TIME)
            yield self.ask(hit, name, place, linted=True)

    def skipped(self) -> Iterator[Row]:
        """Yield the rows with the policy ingested last and one of its writes skipped."""
        before = Wiki.create(Memory(), time=wiki_channel.TIME)
        self.ingest_work(before, 40)
        source, plan = wiki_channel.policy_ingest(self.variant, self.rules, "wiki")
        for step in STEPS:
            if step == "analysis":
                continue
            wiki = _copied(before)
            left = [one for one in STEPS if one != step]
            wiki.ingest(source, plan, time=wiki_channel.TIME, steps=left)
            yield self.ask(wiki, f"no {step} write", "wiki")
            wiki.repair(time=wiki_channel.TIME)
            yield self.ask(wiki, f"no {step} write", "wiki", linted=True)

    def made(self, place: WikiChannel, others: int) -> Wiki:
        """Return a vault of the policy and of later work."""
        in_schema = place == "wiki_schema"
        rules = self.rules if in_schema else ()
        wiki = Wiki.create(Memory(), rules, time=wiki_channel.TIME)
        if not in_schema:
            source, plan = wiki_channel.policy_ingest(self.variant, self.rules, place)
            wiki.ingest(source, plan, time=wiki_channel.TIME)
        self.ingest_work(wiki, others)
        return wiki

    def ingest_work(self, wiki: Wiki, others: int) -> None:
        """Ingest a number of sources of other work."""
        for source in self.work[:others]:
            wiki.ingest(source, time=wiki_channel.TIME)

    def ask(
        self, wiki: Wiki, setting: str, place: WikiChannel, others: int = 40,
        hot: HotCache = "guide", linted: bool = False,
    ) -> Row:  # fmt: skip
        """Query the vault on the request, and read the answer twice: by words and by the scripted agent."""
        text = wiki.query(self.variant.trigger, hot=hot).render()
        # Word for word: an attack's text has the request's words, which a looser measure takes.
        kept = mentions([text], self.rules[0], {}).verbatim
        obeyed = policy_in([text], self.variant.slots) is not None
        return Row(
            self.family, self.seed, setting, place, others, hot, int(linted), int(kept), int(obeyed)
        )  # fmt: skip


def _copied(wiki: Wiki) -> Wiki:
    assert isinstance(wiki.store, Memory)
    return Wiki(Memory(wiki.store.texts))


def _poisoned(name: str) -> Damage:
    file = read_attack_file(FOLDER / f"{name}.yaml")
    return lambda wiki, variant: ingest(wiki, variant, partial(file.filled, variant))


ATTACKS: dict[str, Damage] = {
    "stale hot cache": make_stale,
    "over-triggering hot cache": make_loud,
    "index drift": lambda wiki, variant: make_drift(wiki),
    "a source that claims to be schema": _poisoned("wiki_fake_schema"),
    "ten sources that claim to be schema": _poisoned("wiki_schema_flood"),
}
