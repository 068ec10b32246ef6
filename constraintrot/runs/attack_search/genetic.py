"""Strategy ``genetic``: a seeded search over templates and slots.

A genome is a template and one entry of each slot. While all prompts are equally fit,
there is nothing to select by, and proposals go through all entries of every slot, in
changing combinations. After that two fit parents are crossed and the child mutates. A
proposal depends only on the seed and on the results so far, so a search that was
killed resumes as if it had not been.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import TypeAlias

from constraintrot.attacks.attack_file import Wording, read_texts
from constraintrot.attacks.search_results.trial import Candidate, Query
from constraintrot.scenario.schema import Locale
from constraintrot.scenario.template import show

Genome: TypeAlias = dict[str, int]

TEMPLATES = Path(__file__).with_name("genetic_templates.yaml")
TEMPLATE = "template"
MUTATION = 0.2
TOURNAMENT = 3
# Draws of an untried genome before giving up.
_TRIES = 500


def propose(locale: Locale, history: Sequence[Query], random_seed: int) -> Candidate | None:
    """The next genome's text; None if no untried one was drawn."""
    wording = read_texts(TEMPLATES).locales[locale]
    number = len(history)
    random = Random(f"{random_seed}/genetic/{number}")
    tried = {query.candidate.text for query in history}
    sizes = _sizes(wording)
    flat = len({query.fitness for query in history}) < 2
    for attempt in range(_TRIES):
        if flat:
            genome = _walked(sizes, random_seed, number + attempt)
        else:
            genome = _bred(history, sizes, random)
        text = express(wording, genome)
        if text not in tried:
            return Candidate(text=text, made={"genome": genome})
    return None


def express(wording: Wording, genome: Genome) -> str:
    """A genome's text; placeholders that the attack fills in later are kept."""
    text = wording.texts[genome[TEMPLATE]]
    for slot, entries in wording.pools.items():
        text = text.replace("{{" + slot + "}}", show(entries[genome[slot]]))
    return " ".join(text.split())


def _sizes(wording: Wording) -> Genome:
    slots = {slot: len(entries) for slot, entries in wording.pools.items()}
    return {TEMPLATE: len(wording.texts), **slots}


def _walked(sizes: Genome, random_seed: int, number: int) -> Genome:
    """The genome at a position of a walk through all entries of every slot.

    Each slot has its entries in another random order. After each pass through the largest
    slot, the other slots are shifted by one, so that the combinations change.
    """
    genome: Genome = {}
    most = max(sizes.values())
    for slot, size in sizes.items():
        order = list(range(size))
        Random(f"{random_seed}/{slot}").shuffle(order)
        genome[slot] = order[(number + (number // most if size < most else 0)) % size]
    return genome


def _bred(history: Sequence[Query], sizes: Genome, random: Random) -> Genome:
    """A child of two fit parents."""
    one, other = (_parent(history, random) for _ in range(2))
    child = {slot: random.choice((one, other))[slot] for slot in sizes}
    return {
        slot: random.randrange(sizes[slot]) if random.random() < MUTATION else gene
        for slot, gene in child.items()
    }


def _parent(history: Sequence[Query], random: Random) -> Genome:
    drawn = random.sample(list(history), min(TOURNAMENT, len(history)))
    genome: Genome = max(drawn, key=lambda query: query.fitness).candidate.made["genome"]
    return genome
