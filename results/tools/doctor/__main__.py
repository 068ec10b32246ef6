"""Precision and recall of the doctor's verdicts, over sessions made by hand.

``python -m results.tools.doctor > results/doctor.md``; with ``--sessions FOLDER`` the
sessions are written there to be looked at. ``--errors tuning`` lists what was wrong in the
half that may be looked at.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from constraintrot.coding_agents.sessions import sessions
from constraintrot.coding_agents.sessions.events import Session
from constraintrot.doctor.breaches import Breach
from constraintrot.doctor.findings import Diagnosis
from constraintrot.doctor.rules import Rule, folded
from constraintrot.doctor.verdicts import diagnose
from constraintrot.rule_text.survival import SURVIVED
from results.tools.doctor import driven, free, public, said_rules, script, writers
from results.tools.doctor.counts import share
from results.tools.doctor.script import FORMATS, Script

FIRST_RUN = Path(__file__).parent / "first_run.yaml"
VIAS = {"user": {"user"}, "mcp": {"mcp"}, "tool": {"tool"}, "file": {"file", "nested file"}}


@dataclass(frozen=True)
class Said:
    """What the doctor said of one rule at one compaction, and what is so.

    Attributes:
        script: the session.
        rule: its id.
        number: of the compaction, from 0.
        truth: the state that it is in.
        found: the state that the doctor says.
        outcome: the doctor's verdict.
        there: whether it was in the context before.
        window: what the doctor read it from.
    """

    script: Script
    rule: str
    number: int
    truth: str
    found: str
    outcome: str
    there: bool
    window: str


@dataclass(frozen=True)
class Run:
    """A session, and the doctor's two readings of it."""

    script: Script
    given: Diagnosis
    extracted: Diagnosis


def run(made: Sequence[Script], folder: Path) -> list[Run]:
    """Write the sessions, and read them with the rules named and without."""
    known = script.rules()
    found: list[Run] = []
    for one in made:
        (session,) = list(sessions(writers.write(one, folder)))
        assert isinstance(session, Session)
        rules = [_rule(told) for told in known.values() if told["half"] == one.half]
        found.append(Run(one, diagnose(session, rules), diagnose(session, None)))
    return found


def _rule(told: dict[str, Any]) -> Rule:
    check = told.get("check")
    return Rule(
        told["id"], told["text"], breach=Breach.read(check, told["id"]) if check else None,
        file="rules.yaml",
    )  # fmt: skip


def said(runs: Iterable[Run]) -> Iterator[Said]:
    """Every verdict on a rule that was in the context before."""
    for one in runs:
        histories = {history.rule.name: history for history in one.given.histories}
        for truth in one.script.truths:
            history = histories[truth.rule]
            for number, state in enumerate(truth.states):
                there = number == 0 or truth.states[number - 1] in SURVIVED
                made = (
                    one.given.compactions[number] if number < len(one.given.compactions) else None
                )
                change = made.changes[history.number] if made else None
                stands = change.stands.found.window if change and change.stands else ""
                yield Said(
                    one.script, truth.rule, number, state, (change.after if change else None) or "none",
                    change.outcome if change else "no compaction", there, stands,
                )  # fmt: skip


def report(runs: Sequence[Run]) -> Iterator[str]:
    """The page."""
    yield _HEAD
    yield from free.measured()
    yield _AIMS
    yield from public.measured()
    yield _HAND_HEAD
    yield "| format | sessions | held out | compactions | rules said | with a breach |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for form in (*FORMATS, "all"):
        mine = [one for one in runs if form in (one.script.form, "all")]
        truths = [truth for one in mine for truth in one.script.truths]
        held = sum(one.script.half == "held_out" for one in mine)
        compactions = sum(len(one.script.truths[0].states) for one in mine)
        broken = sum(truth.breaches for truth in truths)
        yield f"| {form} | {len(mine)} | {held} | {compactions} | {len(truths)} | {broken} |"
    for half, title in (
        ("held_out", "The held-out half"),
        ("tuning", "The half that was looked at"),
    ):
        mine = [one for one in runs if one.script.half == half]
        yield f"\n## {title}\n"
        yield from _verdicts(mine)
        yield from _states(mine)
        yield from _by_format(mine)
    yield from _driven()
    yield _SAID_HEAD
    yield from said_rules.measured()
    yield "\n## The held-out half, first run\n"
    yield "Before anything was mended on the other half; kept as it was.\n"
    yield "| verdict | precision | recall |"
    yield "| --- | --- | --- |"
    first = yaml.safe_load(FIRST_RUN.read_text(encoding="utf-8"))
    yield from (
        f"| {name} | {precision} | {recall} |" for name, (precision, recall) in first.items()
    )


def _driven() -> Iterator[str]:
    """The sessions that real agents wrote."""
    every = driven.listed()
    yield _DRIVEN_HEAD
    runs: list[Run] = []
    rows: list[tuple[str, Run, tuple[int, int, int], list[tuple[bool, bool]]]] = []
    with tempfile.TemporaryDirectory() as scratch:
        for one in every:
            session = driven.opened(one, Path(scratch))
            runs.append(Run(one.made, *driven.diagnosed(one, session)))
            sent = list(driven.project_rule(one, runs[-1].given))
            rows.append((one.made.form, runs[-1], driven.context(one, session), sent))
    yield from _verdicts(runs)
    sent = [pair for *_, each in rows for pair in each]
    right = sum(was == told for was, told in sent)
    yield f"| the project's file is sent by the agent | {share(right, len(sent))} | |"
    whole = [sum(one[at] for _, _, one, _ in rows) for at in range(3)]
    yield (
        "| a text is in the context at the end (what `--model` is shown) |"
        f" {share(whole[0], whole[1])} | {share(whole[0], whole[2])} |"
    )
    yield "\n| agent | version | sessions | compactions | verdicts | lost or survived, rightly |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for form, version in driven.versions(every).items():
        mine = [run for name, run, _, _ in rows if name == form]
        made = sum(len(run.script.truths[0].states) for run in mine)
        told = [one for one in said(mine) if one.there]
        right = sum((one.truth in SURVIVED) == (one.outcome == "survived") for one in told)
        yield (
            f"| {form} | {version} | {len(mine)} | {made} | {len(told)} |"
            f" {share(right, len(told))} |"
        )


def _verdicts(runs: Sequence[Run]) -> Iterator[str]:
    every = [one for one in said(runs) if one.there]
    lost = _pair(every, lambda one: one.truth not in SURVIVED, lambda one: one.outcome == "lost")
    kept = _pair(every, lambda one: one.truth in SURVIVED, lambda one: one.outcome == "survived")
    yield "| verdict | precision | recall |"
    yield "| --- | --- | --- |"
    yield f"| the rule was lost | {lost[0]} | {lost[1]} |"
    yield f"| the rule survived | {kept[0]} | {kept[1]} |"
    yield "| a call broke the rule | {} | {} |".format(*_breaches(runs))
    yield "| a compaction took place | {} | {} |".format(*_compactions(runs))
    yield "| by which channel the rule came | {} | {} |".format(*_channels(runs))
    yield "| a rule was said (without --rules) | {} | {} |".format(*_extraction(runs))


def _pair(
    every: Sequence[Said], true: Callable[[Said], bool], found: Callable[[Said], bool]
) -> tuple[str, str]:
    both = sum(true(one) and found(one) for one in every)
    return share(both, sum(map(found, every))), share(both, sum(map(true, every)))


def _breaches(runs: Sequence[Run]) -> tuple[str, str]:
    both = claimed = so = 0
    for one in runs:
        truths = {truth.rule: truth.breaches for truth in one.script.truths}
        so += sum(truths.values())
        for history in one.given.histories:
            claimed += len(history.broken)
            both += min(len(history.broken), truths.get(history.rule.name, 0))
    return share(both, claimed), share(both, so)


def _compactions(runs: Sequence[Run]) -> tuple[str, str]:
    so = sum(len(one.script.truths[0].states) for one in runs)
    found = sum(len(one.given.compactions) for one in runs)
    both = sum(min(len(one.script.truths[0].states), len(one.given.compactions)) for one in runs)
    return share(both, found), share(both, so)


def _channels(runs: Sequence[Run]) -> tuple[str, str]:
    both = claimed = so = 0
    for one in runs:
        truths = {truth.rule: truth for truth in one.script.truths}
        so += len(truths)
        for history in one.given.histories:
            if history.given is not None and history.rule.text != driven.PROJECT_RULE:
                claimed += 1
                truth = truths.get(history.rule.name)
                both += truth is not None and history.given.message.channel in VIAS[truth.via]
    return share(both, claimed), share(both, so)


def _extraction(runs: Sequence[Run]) -> tuple[str, str]:
    known = script.rules()
    both = claimed = so = 0
    for one in runs:
        wanted = {folded(known[truth.rule]["text"]) for truth in one.script.truths}
        found = [history.rule.folded for history in one.extracted.histories]
        found = [each for each in found if each != folded(driven.PROJECT_RULE)]
        so += len(wanted)
        claimed += len(found)
        both += sum(any(text in each for each in found) for text in wanted)
    return share(both, claimed), share(both, so)


def _has(side: str, state: str, one: Said) -> bool:
    return bool(getattr(one, side) == state)


def _states(runs: Sequence[Run]) -> Iterator[str]:
    every = [one for one in said(runs) if one.there]
    yield "\n| state | verdicts | precision | recall |"
    yield "| --- | --- | --- | --- |"
    for state in dict.fromkeys(script.FATES.values()):
        precision, recall = _pair(
            every, partial(_has, "truth", state), partial(_has, "found", state)
        )
        count = sum(one.truth == state for one in every)
        yield f"| {state} | {count} | {precision} | {recall} |"
    right = sum(one.truth == one.found for one in every)
    yield f"| all | {len(every)} | | {share(right, len(every))} |"


def _by_format(runs: Sequence[Run]) -> Iterator[str]:
    yield "\n| format | verdicts | lost or survived, rightly |"
    yield "| --- | --- | --- |"
    for form in FORMATS:
        every = [one for one in said(runs) if one.there and one.script.form == form]
        right = sum((one.truth in SURVIVED) == (one.outcome == "survived") for one in every)
        yield f"| {form} | {len(every)} | {share(right, len(every))} |"


def errors(runs: Sequence[Run], half: str) -> Iterator[str]:
    """What was wrong, for the half that may be looked at."""
    for one in said(run for run in runs if run.script.half == half):
        if one.there and one.truth != one.found:
            yield f"{one.script.name} {one.rule} [{one.truth} -> {one.found}, {one.outcome}] {one.window}"
    known = script.rules()
    for each in (run for run in runs if run.script.half == half):
        wanted = {folded(known[truth.rule]["text"]) for truth in each.script.truths}
        found = [history.rule.folded for history in each.extracted.histories]
        yield from (f"{each.script.name} not extracted: {text}" for text in wanted
                    if not any(text in one for one in found))  # fmt: skip
        yield from (f"{each.script.name} wrongly extracted: {text}" for text in found
                    if not any(one in text for one in wanted))  # fmt: skip


_DRIVEN_HEAD = """
## Sessions that real agents wrote

Made by `python -m results.tools.doctor.drive`: the same rules, said and summarised by the same kind of script, but the agents themselves ran, compacted, kept what they keep, and wrote their sessions (`results/tools/doctor/sessions/`, without the agents' own texts). What is true was taken from the requests that they sent to a loopback endpoint: a rule that stands in the first request after a compaction is verbatim there; of another the wording in the scripted summary says the state. The summaries are the script's, so this measures the reading of files and of contexts; how well free summaries are judged is in [survival-validation.md](survival-validation.md). Both halves of the rules are in it; its errors were looked at, and only readers were mended on them. A rule that came to pi by a tool (it has no MCP) is taken without `--rules` only where the text says that it is a policy, on purpose.
"""
_SAID_HEAD = """
## Rules that nobody named

Without `--rules` the doctor takes rules from what was said. Measured on texts written for another measurement (`results/tools/others.yaml`, `benign.yaml`): rules on subjects of no scenario within longer turns; turns without a rule, half of them full of words that rules are made of; and users' turns of the benchmark's histories, which are work alone (those were looked at). Nothing was mended by the held-out halves. Who uses it confirms the list, or names rules with `--rules`.
"""
_HEAD = """# How right `constraintrot doctor` is

Made by `python -m results.tools.doctor > results/doctor.md`.

## Sessions of free prose

24 invented sessions (16 English, 4 German, 2 Spanish, 2 Chinese) with 60 rules, 16 breaches and 27 compactions, whose author did not know this code and wrote and labelled them from the [definitions](../docs/measurement.md#survival) alone (`results/reading/sessions`). The thresholds of the local reader were chosen on the half that was looked at. `python -m results.tools.doctor.free` asks the local reader and keeps its answers.

"Rules found", "listed" and "false a session" are of rules that nobody named. The other columns are of the labelled rules, named; verdicts on rules that the doctor did not see in the context before are not counted. Precision: of the times that the doctor says it, how often it is so. Recall: of the times that it is so, how often the doctor says it. "Broken" counts the calls that drafts of `breach` find, all drafts taken; the numbers are breaches found of those labelled, and all that were called so. With so few cases each share may be off by ten points and more.
"""
_AIMS = """
The aims are: rules found .90 at half a false one a session, and "lost" with precision and recall .90. "Lost" misses its recall on the held-out half by one rule of five; the rules found miss theirs on both halves. So the report says of each local verdict that it is likely, gives its probability, and lists rules to be confirmed. Thresholds were tried from .1 to .5 for what word lists took and from .3 to .9 for what the local reader takes alone; on the half that was looked at, .2 and .4 found most rules with the fewest false ones.
"""
_HAND_HEAD = """
## Sessions made by hand, read by `words`

The sessions are written anew from `results/tools/doctor/rules.yaml` and `work.yaml`, in the formats of seven agents, and read with the reader `words`, which abstains where it is not sure: its recall is low on purpose. Each session holds three rules, said by the user, read from a file or given back by an MCP server, work between them, one or two compactions, and calls afterwards that break a rule or come near it. A session is read twice: with twelve rules named (of which nine were never said in it), and without any.

**The sessions of the first two tables are made by hand**, not by driving agents: what a summary makes of each rule was written by one person, who had read the survival rules' cue words before (so the wording is not independent of them, though no text was changed after it was first run), and summaries by large models that write freely are harder. Rules are halved: no error of the held-out half was looked at; its totals were seen between mendings of the other half. The shapes of the records were taken from sessions of the real Claude Code 2.1.328, Codex 0.169.0, Gemini CLI 0.61.0 and pi 0.73.1, and of opencode 1.18.33; those of Qwen Code and Copilot CLI from descriptions. Sessions that the first five really wrote are measured below. The survival measure itself was validated on other texts, with worse figures for free prose: [survival-validation.md](survival-validation.md).

Precision: of the times that the doctor says it, how often it is so. Recall: of the times that it is so, how often the doctor says it. Verdicts on rules that were already lost before a compaction are not counted.
"""


def main() -> None:
    """Print the page, or the errors."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessions", type=Path, help="write the sessions to this folder")
    parser.add_argument("--errors", choices=["tuning"], help="list what was wrong in this half")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder: Path = given.sessions or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        runs = run(script.scripts(), folder)
    print("\n".join(errors(runs, given.errors) if given.errors else report(runs)))


if __name__ == "__main__":
    main()
