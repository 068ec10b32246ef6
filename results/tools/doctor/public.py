"""Published sessions of real agents: what the doctor says of them, against a reading of them.

``public_sessions.yaml`` names the sessions by repository, commit and path, and holds the reading:
the standing rules by line and in other words than the session's, what became of each at each
compaction, and for each text that the doctor listed whether it is a standing rule. Texts of
sessions are told by digests and are not in it. ``public_verdicts.json`` holds what the doctor said.

To repeat it, write each session to ``FOLDER/NAME.jsonl`` with ``git show COMMIT:PATH`` in a clone
of its repository (some commits stand only in the branch ``entire/checkpoints/v1``). Then
``python -m results.tools.doctor.public FOLDER words`` keeps what the reader says.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from constraintrot.coding_agents.sessions import sessions
from constraintrot.coding_agents.sessions.events import Losses, Message, Refused, Session
from constraintrot.doctor.reading import choose, find
from constraintrot.doctor.rules import Rule
from constraintrot.doctor.states import conclude
from constraintrot.doctor.verdicts import observe
from constraintrot.rule_text.reader import Reader
from results.tools.doctor.counts import share

READING = Path(__file__).with_name("public_sessions.yaml")
VERDICTS = Path(__file__).with_name("public_verdicts.json")
RUNS = {
    "first": "words, first run",
    "words": "words, after the mends",
    "local": "local, after the mends",
}
Told: TypeAlias = dict[str, Any]


def reading() -> list[Told]:
    """The sessions with what was read in them."""
    told: list[Told] = yaml.safe_load(READING.read_text(encoding="utf-8"))["sessions"]
    return told


def digest(text: str) -> str:
    """What a text of a session is called here."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def opened(folder: Path, told: Told) -> Session:
    """Return a session that was fetched.

    Raises:
        ValueError: the file is another one, or no session.
    """
    path = folder / f"{told['name']}.jsonl"
    data = path.read_bytes()
    blob = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    if blob != told["blob"]:
        raise ValueError(f"{path} is not {told['repository']} {told['path']} as it was read")
    (found,) = sessions(path)
    if isinstance(found, Refused):
        raise ValueError(f"{path}: {found.why}")
    return found


def verdicts(session: Session, told: Told, reader: Reader, name: str) -> Told:
    """What the doctor says of a session: what it lists, and what became of each rule."""
    rules = None if name == "words" else find(session, reader, "local")
    listed = observe(session, rules)
    asyncio.run(conclude(listed, reader))
    named = observe(session, list(_named(session, told)))
    asyncio.run(conclude(named, reader))
    return {
        "compactions": len(listed.compactions),
        "listed": {
            digest(one.rule.text): [one.rule.channel, *_outcomes(listed, one.number)]
            for one in listed.histories
        },
        "named": {one.rule.name: _outcomes(named, one.number) for one in named.histories},
    }


def _outcomes(found: Any, number: int) -> list[str]:
    return [one.changes[number].outcome for one in found.compactions]


def _named(session: Session, told: Told) -> Iterator[Rule]:
    """The labelled rules whose clause is told by its place in the message."""
    places = {one["line"]: [] for one in told["rules"] if "clause" in one}
    for event in session.events(Losses()):
        if isinstance(event, Message) and event.line in places:
            places[event.line].append(event.text)
    for one in told["rules"]:
        if "clause" in one:
            first, end = one["clause"]
            text = next(text for text in places[one["line"]] if len(text) >= end)
            yield Rule(one["id"], " ".join(text[first:end].split()))


def measured() -> Iterator[str]:
    """The part of the page."""
    every, said = reading(), json.loads(VERDICTS.read_text(encoding="utf-8"))
    yield _HEAD
    yield "| repository | licence | agent | sessions | with a compaction | compactions | rules of users | rules of files |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for group in dict.fromkeys((one["repository"], one["licence"], one["agent"]) for one in every):
        some = [one for one in every if (one["repository"], one["licence"], one["agent"]) == group]
        made = [said["words"][one["name"]]["compactions"] for one in some]
        by = Counter(rule["by"] for one in some for rule in one["rules"])
        yield (
            f"| {' | '.join(group)} | {len(some)} | {sum(map(bool, made))} | {sum(made)} |"
            f" {by['user']} | {by['rules file']} |"
        )
    yield from ("", *_lists(every, said), "", *_channels(every, said), "", *_states(every, said))


def _lists(every: Sequence[Told], said: Told) -> Iterator[str]:
    yield "| reader | sessions | rules of users found | rules of files found | listed, of these rules | asks of one task | no rules | false a session |"
    yield "| --- |" + " --- |" * 7
    for run, title in RUNS.items():
        mine = [one for one in every if one["name"] in said.get(run, {})]
        if not mine:
            continue
        kinds: Counter[str] = Counter()
        found: Counter[tuple[str, bool]] = Counter()
        for one in mine:
            listed = said[run][one["name"]]["listed"]
            kinds.update(one["listed"].get(text, "not read") for text in listed)
            found.update(
                (rule["by"], bool(set(rule.get("listed", ())) & set(listed)))
                for rule in one["rules"]
            )
        false = kinds.total() - kinds["rule"]
        yield (
            f"| {title} | {len(mine)} | {_of(found, 'user')} | {_of(found, 'rules file')} |"
            f" {share(kinds['rule'], kinds.total())} | {kinds['task']} | {kinds['no']} |"
            f" {false / len(mine):.1f} |"
        )


def _of(found: Mapping[tuple[str, bool], int], by: str) -> str:
    return share(found[by, True], found[by, True] + found[by, False])


def _channels(every: Sequence[Told], said: Told) -> Iterator[str]:
    yield (
        "| came by | "
        + " | ".join(f"rules, {title}" for run, title in RUNS.items() if run in said)
        + " |"
    )
    yield "| --- |" + " --- |" * sum(run in said for run in RUNS)
    rows: dict[str, dict[str, Counter[bool]]] = {}
    for run in (run for run in RUNS if run in said):
        for one in every:
            for text, (channel, *_) in said[run].get(one["name"], {"listed": {}})["listed"].items():
                counts = rows.setdefault(channel, {}).setdefault(run, Counter())
                counts[one["listed"].get(text) == "rule"] += 1
    for channel, by in sorted(rows.items()):
        cells = (by.get(run, Counter[bool]()) for run in RUNS if run in said)
        yield f"| {channel} | " + " | ".join(share(c[True], c.total()) for c in cells) + " |"


def _states(every: Sequence[Told], said: Told) -> Iterator[str]:
    """The verdicts that a reader decided, and of the labelled rules those that it should."""
    yield "| reader | of | said lost, rightly | said survived, rightly | said sent by the agent, rightly | cannot be told | labelled lost, called so | labelled survived, called so |"
    yield "| --- |" + " --- |" * 7
    for run, title in RUNS.items():
        for of in ("listed", "named"):
            counts: Counter[tuple[str, str]] = Counter()
            for one in every:
                counts.update(_pairs(one, said.get(run, {}).get(one["name"], {}), of))
            if counts:
                right = {state: counts[state, state] for state in ("lost", "survived", "sent")}
                cells = [
                    share(right[at], _sum(counts, 1, at)) for at in ("lost", "survived", "sent")
                ]
                recalled = [share(right[at], _sum(counts, 0, at)) for at in ("lost", "survived")]
                untold = f"{_sum(counts, 1, 'cannot be told')} of {counts.total()}"
                ends = recalled if of == "named" else ["", ""]
                yield f"| {title} | {'rules that it listed' if of == 'listed' else 'rules that were named'} | {' | '.join([*cells, untold, *ends])} |"


def _sum(counts: Mapping[tuple[str, str], int], place: int, state: str) -> int:
    return sum(count for pair, count in counts.items() if pair[place] == state)


def _pairs(told: Told, found: Told, of: str) -> Iterator[tuple[str, str]]:
    """What is so and what was said, at each compaction that a rule stood before."""
    labels = {rule["id"]: rule for rule in told["rules"]}
    for key, outcomes in found.get(of, {}).items():
        if of == "listed":
            channel, *outcomes = outcomes
            rule = next((one for one in told["rules"] if key in one.get("listed", ())), None)
        else:
            channel, rule = "", labels[key]
        there = [one for one in outcomes if one != "not there"]
        after = list(rule["after"]) if rule and rule["after"] else []
        for at, outcome in enumerate(there, len(after) - len(there)):
            so = after[at] if 0 <= at < len(after) else "not in the file"
            if so in ("not in the file", "sent") and channel in told["kept"]:
                so = "survived"
            elif channel in told["sent"]:
                so = "sent"
            yield so, "sent" if outcome == "sent by the agent" else outcome


_HEAD = """## Published sessions

26 sessions that people had with their agents and published with their repositories, 19 of them with a compaction. `results/tools/doctor/public_sessions.yaml` has the reading of them by repository, commit, path and line, in other words than theirs, so that whoever fetches them can repeat it: `python -m results.tools.doctor.public FOLDER words`. Most stand in the branch in which Entire's command line keeps the sessions of a repository. They were chosen before any was read: of each author who has sessions with a compaction the two smallest of these, and seven without one, of agents and authors that were not there yet. 15 authors are told apart by their home folders.

One person read what was typed, the instruction files and the summaries, and wrote down the standing rules and what became of each, before the doctor first ran. What the doctor listed was judged afterwards, by the same person. An instruction for one task counts as no rule; what a plan or a page says of a product is none either. The rules of an instruction file are counted one by one; of other files that an agent read (skills, guides, pages) only what was listed is judged. 14 of the sessions hold no standing rule.

No file was refused, none crashed the doctor, and each of the 21 compactions was found. **Only the first run is blind.** After it readers were mended that did not know what these files hold, and the figures after the mends are of the same sessions:

- What a user of Claude Code types while the agent works, answers to its questions, or says to a call that he refuses was not read as his.
- Reminders that Claude Code puts behind a result, and source files with "claude" or "policy" in their names, were taken for rules.
- A Codex context whose encrypted summary had been taken out before publishing was called whole: 28 times "lost", which these files cannot tell.
- A compaction that keeps messages up to a line of Claude Code's own, or that counts lines as pi did, and the instruction files in Copilot's system message were not understood.
- A root CLAUDE.md that the agent read was not known to be sent again, and in a session that is one JSON value each message had line 1.

MCP results could be read as strictly as pages are: of 66 texts listed from them 18 would be left (15 rules of 41), and of the rules in the sessions made by hand, which come by MCP as often as by the user, a tenth would be missed. It was left as it is.

`local` was to read eight sessions: the seven in which a labelled rule stands before a compaction, and entire-a2. On a busy machine two were done, entire-a2 and pi-1; its rows are of these two and show no more than that it was tried. In pi-1 it called two rules revoked that no turn had lifted.
"""


def main() -> None:
    """Ask a reader of all sessions in a folder, or of those that are named."""
    folder, name, *only = sys.argv[1:]
    chosen = choose("local" if name == "local" else "words")
    kept = json.loads(VERDICTS.read_text(encoding="utf-8")) if VERDICTS.is_file() else {}
    for one in reading():
        if not only or one["name"] in only:
            found = verdicts(opened(Path(folder), one), one, chosen.reader, name)
            kept.setdefault(name, {})[one["name"]] = found
            VERDICTS.write_text(json.dumps(kept, indent=0) + "\n", encoding="utf-8")
            print(one["name"], len(found["listed"]))


if __name__ == "__main__":
    main()
