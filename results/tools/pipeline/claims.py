"""The page ``pipeline.md``: the specification's figures beside our results.

Rows about the machinery (milliseconds, tokens) are measured on ours and get a verdict. Rows
about what a model does with a context need a real one: a script's figures stand beside
them without a verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from pydantic import TypeAdapter

from constraintrot.report.claims import declared as claims
from constraintrot.report.yaml_file import load
from results.tools.docs_figures import rows
from results.tools.pipeline.layers import EMBEDDED
from results.tools.playbook import claims as playbook_claims
from results.tools.their_claims import Claim, Verdict, listing

PAGE: Final = "pipeline.md"
TABLES: Final = ("pipeline-layers.csv", "which-layer.csv", "pipeline-latency.csv")
Table: TypeAlias = Sequence[Mapping[str, str]]
_ASK: Final = (
    "constraintrot which-layer soft_email soft_deploy --model local/qwen2.5-coder-1.5b --variants 6"
)


def there(folder: Path) -> bool:
    """Return whether the tables are in a folder."""
    return all((folder / name).is_file() for name in TABLES)


def listed(folder: Path) -> list[Claim]:
    """Return the rows, with the results from a folder's tables."""
    timed, lost, _ = (rows(folder / name) for name in TABLES)
    asked = [_compounds(folder), _learned(folder)]
    return [*_times(timed), *_tokens(timed), *_unasked(lost), *asked]


def page(folder: Path) -> str:
    """Return the page in Markdown."""
    _, lost, late = (rows(folder / name) for name in TABLES)
    lines = [
        "<!-- made by `make report` from pipeline-*.csv and which-layer.csv -->", "",
        "# The context pipeline's rows, theirs beside ours", "",
        "*04 - Context Engineering*, the specification of a gateway in Rust, with figures of its"
        " own and of others. Here: [the pipeline](../docs/pipeline.md), in Python. Milliseconds"
        " and tokens are properties of the machinery; for what a model does with a context,"
        " **scripted models show what is possible and get no verdict**.", "",
        *listing(listed(folder), "row", "the specification"),
        "- *same*: ours is within the figure; *opposite*: it is not. For 270 messages and 58"
        " tools on two shared Intel Xeon cores: CPU milliseconds of the whole, medians of each"
        " layer's wall-clock time.",
        "- *cannot tell*: neither, by the page that asks it of real episodes.",
        "- *not measured*: no real model or classifier was asked. For the row about"
        " hand-offs, this would:", "",
        "```console", f"$ {_ASK}", "```", "",
        "## Which layer lost the rule", "",
        "Two families, six variants each, `scripted/obedient`, three rounds; every request was"
        " answered before, in a conversation that knew no rule. Violations behind one layer alone"
        " (behind none: 0), and how often the layer took the rule away when all were on. Layers"
        " that are not named took nothing away and broke nothing.", "",
        "| profile | pins | layer | it alone | p (Holm) | took it away |",
        "| --- | --- | --- | ---: | ---: | ---: |",
        *_layers(lost), "",
        "## From a pin to its effect", "",
        "Requests, one a second, that are answered as if a new pin were not there.", "",
        "| between | requests |", "| --- | ---: |",
        *(f"| {row['between']} | {row['requests']} |" for row in late),
    ]  # fmt: skip
    return "\n".join(lines).rstrip() + "\n"


def _times(timed: Table) -> Iterator[Claim]:
    median = {row["layer"]: row["ms_median"] for row in timed}
    p95 = next(row["ms_p95"] for row in timed if row["layer"] == "whole pipeline")
    yield Claim(
        "The full pipeline, 95th percentile, no model called", "below 50 ms",
        (f"{float(p95):.1f} ms",), _below(p95, 50),
    )  # fmt: skip
    for layer, title, most in (
        ("prefix", "L1, prompt cache alignment", 1.0),
        ("exact_cache", "L3, hash cache; ours hashes all that was said", 0.1),
        ("tools", "L4, tool pruning", 1.0),
        ("affinity", "L6, KV-cache routing", 1.0),
        ("masking", "L7, PII masking; ours by patterns", 1.0),
    ):
        ours = median[layer]
        yield Claim(title, f"below {most:g} ms", (f"{float(ours):.2f} ms",), _below(ours, most))
    yield Claim(
        "L2, semantic cache, with an embedder; ours with 500 answers", "3 to 8 ms",
        (f"{float(median[EMBEDDED]):.1f} ms",), _below(median[EMBEDDED], 8.0),
    )  # fmt: skip
    yield Claim("L8, injection detection, with a DeBERTa classifier", "3 to 8 ms")


def _below(ours: str, most: float) -> Verdict:
    return "same" if float(ours) < most else "opposite"


def _tokens(timed: Table) -> Iterator[Claim]:
    by_name = {row["layer"]: row for row in timed}
    large = by_name["meta-tools for 116"]
    saved = 1 - int(large["tokens_after"]) / int(large["tokens_before"])
    yield Claim(
        "Three meta-tools for a catalogue of more than 100; the larger, the more",
        "97.5 % of tool tokens saved", (f"{100 * saved:.1f} % of 116 tools",),
        "same" if saved >= 0.975 else "opposite",
    )  # fmt: skip
    given = int(by_name["meta-tools for 58"]["tokens_before"])
    cut = int(by_name["tools"]["tokens_before"]) - int(by_name["tools"]["tokens_after"])
    yield Claim(
        "Dynamic tool selection, 12 tools of 58", "70 to 95 % of tool tokens saved",
        (f"{100 * cut / given:.1f} %",), "same" if 0.7 <= cut / given <= 0.95 else "opposite",
    )  # fmt: skip


def _unasked(lost: Table) -> Iterator[Claim]:
    alone = {
        row["layer"]: f"{row['alone_violations']}/{row['alone_n']}"
        for row in lost
        if (row["profile"], row["defense"]) == ("kept", "none")
    }
    yield Claim(
        "A hand-off avoids the quality cliff of repeated compaction", "no figure",
        (
            f"scripted, whose summaries drop rules: {alone['handoff']} violations after a hand-off,"
            f" {alone['compaction']} after compactions",
        ),
    )  # fmt: skip
    for title, paper in (
        ("Constraints at both ends are attended to", "no figure"),
        ("Semantic responses from the cache", "15 to 30 % of requests"),
        ("All layers together", "40 to 85 % of the cost saved"),
    ):
        yield Claim(title, paper)


def _compounds(folder: Path) -> Claim:
    """Return the claim's verdict on the page of Governance Decay's claims."""
    title = "Repeated compaction compounds"
    listed = load(folder / claims.REPRODUCTION, TypeAdapter(claims.Claims)).claims
    (asked,) = [one for one in listed if one.title == title]
    where = f"{Path(claims.REPRODUCTION).stem}.md#{title.lower().replace(' ', '-')}"
    return Claim(
        "After two or three compactions, information loss compounds", "no figure",
        (f"violations of one model, from round to round: [{title}]({where})",), asked.verdict,
    )  # fmt: skip


def _learned(folder: Path) -> Claim:
    """Return the claim's verdict on the page of the playbook."""
    asked = playbook_claims.offline(folder)
    return Claim(
        "Learned context (ACE)",
        "+10.6 %; see [playbooks](playbook.md)",
        (asked.told,),
        asked.verdict,
    )


def _layers(lost: Table) -> Iterator[str]:
    for row in lost:
        if int(row["alone_violations"]) or int(row["took"]):
            yield (
                f"| {row['profile']} | {'yes' if row['defense'] == 'pin' else 'no'} |"
                f" {row['layer']} | {row['alone_violations']}/{row['alone_n']} | {row['alone_p']} |"
                f" {row['took']}/{row['alone_n']} |"
            )
    for profile, defense in dict.fromkeys((row["profile"], row["defense"]) for row in lost):
        mine = [row for row in lost if (row["profile"], row["defense"]) == (profile, defense)]
        if not any(int(row["alone_violations"]) or int(row["took"]) for row in mine):
            yield f"| {profile} | {'yes' if defense == 'pin' else 'no'} | none | | | |"
