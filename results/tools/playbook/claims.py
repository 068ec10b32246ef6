"""The page ``playbook.md``: ACE's claims beside our results.

A script shows that the machinery works and says nothing of a claim about models, so its
figures stand beside the paper's without a verdict. A verdict is computed from the tables
``playbook-collapse-NAME.csv`` and ``playbook-adaptation-NAME.csv`` of real models.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from constraintrot.stats.exact import fair_sign_test
from results.tools.playbook.collapse_steps import Steps, read
from results.tools.their_claims import ALPHA, Claim, Verdict, listing, rows_of, tables

PAGE: Final = "playbook.md"
COLLAPSE, ADAPTATION = "playbook-collapse", "playbook-adaptation"
# The paper's collapse lost 99.3 %; a rewrite that halves its notes has lost most of what it knew.
COLLAPSED: Final = 0.5
LEAST_STEPS: Final = 60
_ASK: Final = (
    "python -m results.tools.playbook {what} --model local/qwen2.5-coder-1.5b"
    " {settings} --csv results/playbook-{what}-local-1.5b.csv"
)
_ASK_COLLAPSE = _ASK.format(
    what="collapse",
    settings="--memory rewrite --memory proactive --steps 60 --facts 1 --words 200",
)
_ASK_ADAPTATION = _ASK.format(what="adaptation", settings="--epochs 1 --most 16")


def listed(folder: Path) -> list[Claim]:
    """Return the claims, with the results from a folder's tables."""
    memories = steps(folder)
    return [*_collapses(memories), *_pays(_adapted(folder)), _cheaper(memories), *_unasked()]


def offline(folder: Path) -> Claim:
    """Return the claim about adaptation offline."""
    return next(_pays(_adapted(folder)))


def page(folder: Path) -> str:
    """Return the page in Markdown."""
    claims = listed(folder)
    asks = dict.fromkeys(
        f"$ {one.ask}" for one in claims if one.verdict == "not measured" and one.ask
    )
    lines = [
        "<!-- made by `make report` from playbook-*.csv -->", "",
        "# ACE's claims, theirs beside ours", "",
        "Agentic Context Engineering, arXiv 2510.04618: DeepSeek-V3.1 on AppWorld and on financial"
        " analysis. Here: a probe of facts and rules, and a desk with picky tools"
        " ([playbooks](../docs/playbook.md)). **A scripted model shows that the machinery works"
        " and says nothing of a model**: its figures stand beside the paper's, and only a real"
        " model's get a verdict.", "",
        *listing(claims),
        "- *same*: the paired test says what the paper says (p below 0.05); of a collapse, that a"
        " real model's rewrite lost more than half of its notes in one step, and its playbook did"
        " not.",
        "- *opposite*: the test says the contrary; of a playbook, that it collapsed or lost a rule.",
        f"- *cannot tell*: neither; of a collapse, that none came within {LEAST_STEPS} steps or more;"
        " of a playbook, that there was none to prevent.",
        f"- *not measured*: no real model was asked.{' This would:' if asks else ''}",
        *(["", "```console", *asks, "```"] if asks else []),
    ]  # fmt: skip
    return "\n".join(lines).rstrip() + "\n"


def steps(folder: Path) -> list[Steps]:
    """Return all memories under the probe, scripted ones first."""
    return [one for path in tables(folder, COLLAPSE) for one in read(path)]


def _adapted(folder: Path) -> list[dict[str, str]]:
    return [*rows_of(folder, ADAPTATION)]


def _real(one: Steps) -> bool:
    return not one.model.startswith("scripted/")


def _collapses(memories: Sequence[Steps]) -> Iterator[Claim]:
    rewritten = [one for one in memories if one.memory == "rewrite"]
    real = [one for one in rewritten if _real(one)]
    verdict: Verdict = "not measured"
    if any(one.shrink[0] > COLLAPSED for one in real):
        verdict = "same"
    elif any(len(one.rows) >= LEAST_STEPS for one in real):
        verdict = "cannot tell"
    yield Claim(
        "Notes that are rewritten as a whole collapse in one step (Figure 2)",
        "18,282 tokens at step 60, 122 at the next (99.3 %); accuracy 66.7 to 57.1, and 63.7 without",
        tuple(map(_shrunk, rewritten)), verdict, _ASK_COLLAPSE,
    )  # fmt: skip
    bulleted = [one for one in memories if one.memory == "proactive"]
    real = [one for one in bulleted if _real(one)]
    collapsed = {one.model for one in rewritten if one.shrink[0] > COLLAPSED}
    verdict = "not measured"
    if any(one.shrink[0] > COLLAPSED or one.lost for one in real):
        verdict = "opposite"
    elif real:
        # Where no rewrite collapses there is nothing to prevent.
        verdict = "same" if {one.model for one in real} <= collapsed else "cannot tell"
    yield Claim(
        "Incremental deltas prevent collapse (section 3.1)", "no figure of its own",
        tuple(map(_shrunk, bulleted)), verdict, _ASK_COLLAPSE,
    )  # fmt: skip


def _shrunk(one: Steps) -> str:
    lost, at = one.shrink
    last = one.rows[-1]
    before = next((row["tokens"] for row in one.rows if row["step"] == at - 1), 0)
    after = next((row["tokens"] for row in one.rows if row["step"] == at), 0)
    told = (
        f"{before:,.0f} to {after:,.0f} tokens at step {at} ({100 * lost:.1f} %)"
        if lost
        else "only grew"
    )
    rules = (
        f"{last['rules_kept']:.0f} of {last['rules']:.0f} rules left after {len(one.rows)} steps"
    )
    return f"{one.model}: {told}, {rules}"


def _pays(rows: Sequence[dict[str, str]]) -> Iterator[Claim]:
    for setting, paper in (
        (
            "offline",
            "+10.6 % on average over baselines on AppWorld, +12.3 % over ICL offline (section 4.3)",
        ),
        ("online", "+14.8 % over ReAct without labels, by execution feedback alone (section 4.3)"),
    ):
        asked = [row for row in rows if (row["memory"], row["setting"]) == ("playbook", setting)]
        real = [row for row in asked if not row["model"].startswith("scripted/")]
        yield Claim(
            f"Adaptation {setting} pays, by feedback and without labels", paper,
            tuple(map(_solved, asked)), _sign([(row["difference"], row["p_value"]) for row in real]),
            _ASK_ADAPTATION,
        )  # fmt: skip


def _solved(row: dict[str, str]) -> str:
    return (
        f"{row['model']}: {row['solved']}/{row['n']} solved, {100 * float(row['difference']):+.0f}"
        f" points against none (p = {float(row['p_value']):.2g}, paired)"
    )


def _sign(found: Sequence[tuple[str, str]]) -> Verdict:
    if not found:
        return "not measured"
    told = {float(difference) > 0 for difference, p in found if float(p) < ALPHA}
    if len(told) == 1 and all(float(p) < ALPHA for _, p in found):
        return "same" if told == {True} else "opposite"
    return "cannot tell"


def _cheaper(memories: Sequence[Steps]) -> Claim:
    """Return the claim about the seconds of a step, playbook against rewriting (sign test)."""
    told: list[str] = []
    verdicts: list[Verdict] = []
    sizes = {one.model: one.rows[-1]["tokens"] for one in memories if one.memory == "rewrite"}
    models = dict.fromkeys(one.model for one in memories if _real(one))
    for model in models:
        arms = {one.memory: one.values("seconds") for one in memories if one.model == model}
        if not {"rewrite", "proactive"} <= set(arms):
            continue
        pairs = list(zip(arms["proactive"], arms["rewrite"], strict=False))
        quicker = sum(a < b for a, b in pairs)
        differ = sum(a != b for a, b in pairs)
        p_value = fair_sign_test(min(quicker, differ - quicker), differ)
        step, rewrite = (sum(one) / len(pairs) for one in zip(*pairs, strict=True))
        told.append(
            f"{model}: {step:.0f} s a step, {rewrite:.0f} s a rewrite of"
            f" {sizes[model]:,.0f} tokens; quicker in {quicker} of {len(pairs)}, p = {p_value:.2g}"
        )
        verdicts.append(
            "cannot tell"
            if p_value >= ALPHA
            else "same"
            if 2 * quicker > len(pairs)
            else "opposite"
        )
    verdict: Verdict = (
        verdicts[0] if len({*verdicts}) == 1 else "cannot tell" if verdicts else "not measured"
    )
    return Claim(
        "A step of adaptation is quicker than a rewrite (section 4.6)",
        "86.9 % lower adaptation latency on average; 9,517 s against GEPA's 53,898 s (82.3 %)",
        tuple(told), verdict, _ASK_COLLAPSE,
    )  # fmt: skip


def _unasked() -> Iterator[Claim]:
    yield Claim(
        "Feedback that cannot be relied on makes adaptation harm (section 4.4, Table 2)",
        "with labels +8.6 % on average in finance, without them worse", (), "not measured",
    )  # fmt: skip
    yield Claim(
        "Reflector, epochs and offline warm-up each add (Table 3)",
        "its figures are lost in the text that we have", (), "not measured",
    )  # fmt: skip
