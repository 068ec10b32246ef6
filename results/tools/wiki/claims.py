"""The page ``wiki.md``: the living wiki paper's claims beside our results.

A script shows that the measurement works and says nothing of a claim about models, so its
figures stand beside the paper's without a verdict; a verdict is computed from the tables
``wiki-wording-NAME.csv`` of real models. One claim is about the reading of a vault alone, which
no model does here; its verdict is of that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from constraintrot.stats.exact import fair_sign_test, fisher
from results.tools.their_claims import ALPHA, Claim, Verdict, listing, read, rows_of, tables
from results.tools.wiki.wording import ANY, Contrast, contrasts
from results.tools.wiki.wording import read as read_answers

PAGE: Final = "wiki.md"
WORDING, REACH, GROWTH = "wiki-wording", "wiki-reach", "wiki-growth"
ATTACKS: Final = "wiki-attacks"
Rows: TypeAlias = Sequence[dict[str, str]]
_PLACES: Final = {"wiki": "a page", "wiki_schema": "the schema", "wiki_source": "a source alone"}
# Deferred and not, under reminders and under consequences (section 4.2).
THEIR_PILOT: Final = ((4, 1), (0, 3))
_ASK: Final = (
    "python -m results.tools.wiki wording --model local/qwen2.5-coder-1.5b"
    " --csv results/wiki-wording-local-1.5b.csv"
)


def listed(folder: Path) -> list[Claim]:
    """Return the claims, with the results from a folder's tables."""
    answers = [row for path in tables(folder, WORDING) for row in read_answers(path)]
    return [
        *_worded([*contrasts(answers)]),
        *_read(read(folder / f"{REACH}.csv")),
        *_grown(read(folder / f"{GROWTH}.csv")),
    ]


def page(folder: Path) -> str:
    """Return the page in Markdown."""
    reach = read(folder / f"{REACH}.csv")
    claims = listed(folder)
    lines = [
        "<!-- made by `make report` from wiki-*.csv -->", "",
        "# The living wiki's claims, theirs beside ours", "",
        "The Living Wiki: Schema-Driven LLM Knowledge Bases as Persistent Agent Memory; an agent's"
        " vault on 56 documents of one project. Here: scripted maintainers, and requests to vaults"
        " of our scenarios' work ([wikis](../docs/wiki.md)). **A scripted model shows that the"
        " measurement works and says nothing of a model**: its figures stand beside the paper's"
        " without a verdict.", "",
        *listing(claims),
        "- *same*: the paired test says what the paper says (p below 0.05).",
        "- *opposite*: the test says the contrary.",
        "- *cannot tell*: neither.",
        "- *not measured*: no real model was asked. Of the first two this would:", "",
        "```console", f"$ {_ASK}", "```", "",
        "## What a query reaches", "",
        *_table(reach),
        "",
        "Requests that break a policy, put to a vault that has the policy; reached: the policy is"
        " word for word in what the query gives; obeyed: the scripted agent finds it there, by its"
        " own reading, which takes some of an attack's text, with the request's own words, for a"
        " policy. The hot cache is a gate where a line of it that has a word of the request ends"
        " the search; the index is searched by words, theirs was hybrid. No model was asked, and the writer is plain code:"
        " what a model writes of a policy may be found better or worse.",
        *_attacked([*rows_of(folder, ATTACKS)]),
    ]  # fmt: skip
    return "\n".join(lines).rstrip() + "\n"


def _worded(found: Sequence[Contrast]) -> Iterator[Claim]:
    any_write = [one for one in found if one.step == ANY]
    chance = fisher(THEIR_PILOT)
    yield Claim(
        "Consequence wording keeps the writes from being deferred (section 4.2, P2)",
        "0 of 3 ingests against 4 of 5 under reminders; Fisher's exact test of these 8 has"
        f" p = {chance:.2f}",
        tuple(map(_left, any_write)), _verdict(any_write), _ASK,
    )  # fmt: skip
    kept = [one for one in found if one.step in ("index", "hot-cache")]
    yield Claim(
        "Index and hot cache are updated at every ingest, under consequence wording (section 4.2)",
        "100 % across three batches",
        tuple(f"{one.model}: {one.step} left {one.consequence} of {one.n}" for one in kept),
        "not measured", _ASK,
    )  # fmt: skip


def _left(one: Contrast) -> str:
    return (
        f"{one.model}: any write left in {one.consequence} of {one.n} against {one.reminder}"
        f" (p = {one.p_value:.2g}, paired)"
    )


def _verdict(found: Sequence[Contrast]) -> Verdict:
    real = [one for one in found if not one.model.startswith("scripted/")]
    if not real:
        return "not measured"
    if any(one.p_value >= ALPHA for one in real):
        return "cannot tell"
    fewer = {one.consequence < one.reminder for one in real}
    return "cannot tell" if len(fewer) > 1 else "same" if fewer == {True} else "opposite"


def _read(rows: Rows) -> Iterator[Claim]:
    guide = _chosen(rows, setting="as it is", place="wiki", others="40", hot="guide")
    gate = _chosen(rows, setting="as it is", place="wiki", others="40", hot="gate")
    p_value, fewer = _by_family(gate, guide)
    verdict: Verdict = "not measured" if not gate else "cannot tell"
    if gate and p_value < ALPHA:
        verdict = "same" if fewer else "opposite"
    yield Claim(
        "A hot cache that may end the search hides pages (section 4.3, P4)",
        "early runs, no figure",
        (
            f"no model: the policy's page is reached in {_count(gate)} as a gate and"
            f" {_count(guide)} as a guide (p = {p_value:.2g}, by family)",
        ),
        verdict,
    )  # fmt: skip
    skipped = _chosen(rows, setting="index drift", place="wiki", hot="guide")
    yield Claim(
        "The index drifts unless something enforces it (section 4.3)",
        "out of step within two sessions",
        (
            "no model: where the index lacks the policy's page a query reaches it in"
            f" {_count([one for one in skipped if one['linted'] == '0'])}, after lint --fix in"
            f" {_count([one for one in skipped if one['linted'] == '1'])}",
        ),
        "not measured",
    )  # fmt: skip


def _grown(rows: Rows) -> Iterator[Claim]:
    taken = ", ".join(row["taken_off"] for row in rows)
    at = ", ".join(row["sources"] for row in rows)
    yield Claim(
        "Unresolved links pile up without a pass that resolves them (Table 1, P6)",
        "0, 47, 199 at 21, 75, 102 pages",
        (
            f"writer in code: {', '.join(row['unresolved'] for row in rows)} after {at} ingests,"
            f" each with such a pass, which took {taken} off",
        ),
        "not measured",
    )  # fmt: skip

    def trend(field: str) -> str:
        return ", ".join(row[field] for row in rows)

    yield Claim(
        "Links and clustering grow quicker than pages, then level off (Table 1)",
        "links a page 2.81, 6.08, 6.43; clustering 0.262, 0.478, 0.494 at 21, 75, 102 pages",
        (
            f"writer in code: links a page {trend('links_a_page')}; clustering"
            f" {trend('clustering')} at {trend('pages')} pages",
        ),
        "not measured",
    )  # fmt: skip
    yield Claim(
        "The wiki reaches a true source at least as often as hybrid RAG, and answers worse (Table 2)",
        "k = 10: any source 90.0 against 87.5 %, score 0.95 against 1.32", (), "not measured",
    )  # fmt: skip
    yield Claim(
        "Entity pages answer what is spread over documents better (section 4.2, type B)",
        "1.70 against 1.30", (), "not measured",
    )  # fmt: skip


def _chosen(rows: Rows, **facts: str) -> list[dict[str, str]]:
    return [row for row in rows if all(row[name] == value for name, value in facts.items())]


def _count(rows: Rows) -> str:
    return f"{sum(row['reached'] == '1' for row in rows)} of {len(rows)}"


def _by_family(a: Rows, b: Rows) -> tuple[float, bool]:
    """Sign test of two settings on families, whose variants are no independent cases.

    Returns:
        The p-value, and whether the first reaches less in more families.
    """
    totals: dict[str, int] = defaultdict(int)
    for rows, sign in ((a, 1), (b, -1)):
        for row in rows:
            totals[row["family"]] += sign * int(row["reached"])
    less = sum(total < 0 for total in totals.values())
    more = sum(total > 0 for total in totals.values())
    return fair_sign_test(min(less, more), less + more), less > more


def _table(rows: Rows) -> Iterator[str]:
    yield "| vault | policy in | others | hot cache | reached | obeyed | after lint --fix |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    key: Callable[[dict[str, str]], tuple[str, ...]] = lambda row: (  # noqa: E731
        row["setting"], row["place"], row["others"], row["hot"],
    )  # fmt: skip
    for cell in dict.fromkeys(map(key, rows)):
        before = [row for row in rows if key(row) == cell and row["linted"] == "0"]
        after = [row for row in rows if key(row) == cell and row["linted"] == "1"]
        obeyed = sum(row["obeyed"] == "1" for row in before)
        setting, where, others, hot = cell
        yield (
            f"| {setting} | {_PLACES[where]} | {others} | {hot} | {_count(before)}"
            f" | {obeyed} of {len(before)} | {_count(after) if after else ''} |"
        )


def _attacked(rows: Rows) -> Iterator[str]:
    if not rows:
        return
    yield from (
        "",
        "## Episodes under attack",
        "",
        "`inspect eval constraintrot/suite -T channel=wiki -T attack=...`, condition `control`: in how"
        " many the policy is in the last input word for word, and in how many it was broken. A"
        " scripted agent obeys what it sees and says nothing of a model.",
        "",
        "| agent | policy in | attack | reached | violated | no call |",
        "| --- | --- | --- | ---: | ---: | ---: |",
    )
    for row in rows:
        n = row["episodes"]
        yield (
            f"| {row['model']} | {_PLACES[row['channel']]} | `{row['attack']}` | {row['reached']} of"
            f" {n} | {row['violated']} of {n} | {row['silent']} |"
        )
