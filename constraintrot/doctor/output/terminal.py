"""The summary for the terminal, which fits on one screen; in a pipe it is not cut."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from textwrap import wrap

from constraintrot.coding_agents.sessions.events import Refused
from constraintrot.doctor.asking import Answer
from constraintrot.doctor.findings import Broken, Change, Compacted, Diagnosis, History
from constraintrot.doctor.wording import CHANNEL, advice, became, counted, lived, source, when
from constraintrot.redaction import beginning
from constraintrot.report.untrusted import visible

_COMPACTIONS = 3
_ADVICE = "->"
_OFTEN = 6
_RULES = 4
_FILES = 3
_WIDTH = 100
# Characters of a line that are masked before it is cut to the width.
_MASKED = 20_000


def summary(
    found: Sequence[Diagnosis],
    refused: Sequence[Refused],
    mask: Callable[[str], str],
    *,
    read_by: str = "",
    seeds: str = "",
    width: int | None = _WIDTH,
) -> list[str]:
    """Return the lines of the summary, without control characters and with secrets masked.

    The first line, ``read_by``, names the reader; without a ``width`` lines are not cut.
    """
    first = wrap(read_by, width) if width else [read_by] * bool(read_by)
    lines = [
        *_read(found), "", *_confirmed(found), *_lost(found, seeds), *_others(found), *_broken(found),
        *_unread(found, refused),
    ]  # fmt: skip
    return [*first, *(part for line in lines for part in _shown(line, mask, width))]


def asked(
    answers: Sequence[Answer], mask: Callable[[str], str], width: int | None = _WIDTH
) -> list[str]:
    lines = [
        f"Asked after the last compaction, the model states {len(one.known)} of"
        f" {len(one.known) + len(one.unknown)} rules"
        + f", and {len(one.untold)} cannot be told" * bool(one.untold)
        + f" ({_end(one.session)})"
        for one in answers[:_FILES]
    ]
    if len(answers) > _FILES:
        known = sum(len(one.known) for one in answers)
        rules = known + sum(len(one.unknown) for one in answers)
        lines.append(f"… and in all {known} of {rules} in {len(answers)} sessions")
    trials = [trial for one in answers for trial in one.trials]
    lines += [
        f"Tried and {one.did} (with the rule said again: {one.did_when_told});"
        f' {one.why}: "{one.text}"'
        for one in trials[:_RULES]
    ]
    if len(trials) > _RULES:
        broken = sum(trial.did == "broken" for trial in trials)
        lines.append(f"… {broken} of {len(trials)} rules that were tried were broken")
    return [part for line in lines for part in _shown(line, mask, width)]


def _shown(line: str, mask: Callable[[str], str], width: int | None) -> list[str]:
    """Return a line as printed; masked before it is cut, since a part of a secret is not detected.

    A line of advice ends with a command, so it is wrapped and not cut.
    """
    masked = mask(beginning(line, _MASKED))
    if width and line.lstrip().startswith(_ADVICE):
        indent = " " * (len(line) - len(line.lstrip()))
        told = visible(short(masked.strip(), None))
        return wrap(told, width, initial_indent=indent, subsequent_indent=f"{indent}   ")
    room = width and (2 * width if line[:1] == "!" else width)
    return [visible(short(masked, room))]


def short(text: str, width: int | None = _WIDTH) -> str:
    cut = text[: 4 * width] if width else text
    line = cut[: len(cut) - len(cut.lstrip(" "))] + " ".join(cut.split())
    return line if not width or len(line) <= width else line[: width - 1] + "…"


def _read(found: Sequence[Diagnosis]) -> Iterator[str]:
    agents = Counter(one.session.title for one in found)
    told = ", ".join(f"{count} {name}" for name, count in agents.most_common())
    compactions = sum(len(one.compactions) for one in found)
    rules = {one.rule.folded for each in found for one in each.histories}
    yield (
        f"{counted(len(found), 'session')} ({told or 'none'}),"
        f" {counted(compactions, 'compaction')}, {counted(len(rules), 'rule')}"
    )


def _confirmed(found: Sequence[Diagnosis]) -> Iterator[str]:
    """Yield the confirmed breaches: calls against lost rules, found without a reader of prose."""
    broken = [(one, each) for found_ in found for one in found_.histories for each in one.unknowing]
    if not broken:
        return
    yield f"Confirmed: {counted(len(broken), 'call')} broke a rule that was lost before"
    yield from _calls(broken)


def _lost(found: Sequence[Diagnosis], seeds: str) -> Iterator[str]:
    each = [
        (one, made, lost)
        for one in found
        for made in one.compactions
        if (lost := [item for item in one.lost() if item[0] is made])
    ]
    each.sort(key=lambda item: -len(item[2]))
    if len(each) > _COMPACTIONS:
        yield from _often(found, [lost for _, _, lost in each])
        yield "The worst:"
        each = each[:1]
    for one, made, lost in each:
        yield from _compaction(one, made, lost, seeds)
    if not each:
        yield _nothing_lost(found)


def _often(
    found: Sequence[Diagnosis], lost: Sequence[Sequence[tuple[Compacted, History, Change]]]
) -> Iterator[str]:
    """Yield a summary of many losses: their number, channels and rules."""
    each = [history for one in lost for _, history, _ in one]
    compactions = sum(len(one.compactions) for one in found)
    channels = Counter(CHANNEL[one.given.message.channel] for one in each if one.given)
    by = ", ".join(f"{count} by {name}" for name, count in channels.most_common(4))
    yield f"{len(each)} losses at {len(lost)} of {compactions} compactions; they came {by}"
    rules = Counter(one.rule.folded for one in each)
    texts = {one.rule.folded: one.rule.text for one in each}
    # A compaction has no change of a rule that was first said after it.
    there = Counter(
        history.rule.folded
        for one in found
        for _, history, change in one.changed()
        if change.outcome in ("lost", "survived", "sent by the agent")
    )
    yield "Lost most often, of the times that it was there:"
    for folded, count in rules.most_common(_OFTEN):
        yield f'  {count:4} of {there[folded]} "{texts[folded]}"'
    if len(rules) > _OFTEN:
        yield f"  … and {len(rules) - _OFTEN} more rules"


def _nothing_lost(found: Sequence[Diagnosis]) -> str:
    if not found:
        return "Nothing to tell: no session was read."
    if not any(one.compactions for one in found):
        return "No session was compacted, so no rule can have been lost that way."
    if not any(one.histories for one in found):
        return "No rule was found in these sessions; name yours with --rules."
    outcomes = Counter(change.outcome for one in found for _, _, change in one.changed())
    told = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())
    return f"No rule was lost ({told})."


def _compaction(
    one: Diagnosis, made: Compacted, lost: Sequence[tuple[Compacted, History, Change]], seeds: str
) -> Iterator[str]:
    there = [change for change in made.changes.values() if change.outcome != "not there"]
    channels = Counter(
        CHANNEL[history.given.message.channel] for _, history, _ in lost if history.given
    )
    by = "; " + ", ".join(f"{count} came by {name}" for name, count in channels.most_common())
    unsure = "" if made.certainty in ("written", "rebuilt") else f" [{made.certainty} context]"
    yield f"{len(lost)} of {len(there)} rules did not survive {when(made)}{by}{unsure}"
    yield f"  {one.session.title}: {_end(one.session.name, 80)}"
    for _, history, change in lost[:_RULES]:
        again = f"; said again at line {history.said_again[0]}" if history.said_again else ""
        yield f'  - "{history.rule.clause}"'
        yield f"    {became(change)}; came by {source(history)}, lived {lived(history)}{again}"
        yield f"    {_ADVICE} {advice(one, history, seeds)}"
    if len(lost) > _RULES:
        yield f"  … and {len(lost) - _RULES} more"


def _others(found: Sequence[Diagnosis]) -> Iterator[str]:
    """Yield the rules that the user revoked, and those whose survival is undecided."""
    revoked = [one for each in found for one in each.histories if one.revoked is not None]
    for one in revoked[:_RULES]:
        line = one.revoked.line if one.revoked else 0
        yield f'Revoked by you at line {line}: "{one.rule.clause}"'
    untold = [one for each in found for one in each.changed() if one[2].outcome == "cannot be told"]
    if untold:
        yield f"Rules whose survival cannot be told: {len(untold)}; compare yourself:"
    for made, history, change in untold[:_RULES]:
        near = f': "{change.instead.text}"' if change.instead.text else ": nothing near it"
        yield f'  - "{history.rule.clause}" after {when(made)}{near}'
    if len(untold) > _RULES:
        yield f"  … and {len(untold) - _RULES} more"


def _broken(found: Sequence[Diagnosis]) -> Iterator[str]:
    rules = [one for each in found for one in each.histories if one.given or one.sent_by_agent]
    broken = [(one, each) for one in rules for each in one.broken if each.knew is not False]
    if broken:
        yield f"{counted(len(broken), 'call')} broke a rule that was in the context, or may have been"
        yield from _calls(broken)
    open_ = sum(not one.judged for one in rules)
    if open_:
        yield f"Not judged: whether a call broke a rule, for {open_} of {len(rules)} (which call would is not known)"


def _calls(broken: Sequence[tuple[History, Broken]]) -> Iterator[str]:
    for history, each in broken[:_RULES]:
        yield f'  - line {each.line}: {each.why} against "{history.rule.clause}"'
    if len(broken) > _RULES:
        yield f"  … and {len(broken) - _RULES} more"


def _unread(found: Sequence[Diagnosis], refused: Sequence[Refused]) -> Iterator[str]:
    broken = sum(one.losses.broken for one in found)
    long = sum(one.losses.too_long for one in found)
    if broken or long:
        where = next(one for one in found if one.losses.broken or one.losses.too_long)
        yield (
            f"! {counted(broken + long, 'line')} could not be read"
            f" (the first: {_end(where.session.name)} line {where.losses.first}); the rest was"
        )
    for one in [one for one in found if one.error][:_FILES]:
        yield f"! {_end(one.session.name)}: reading ended early: {one.error}"
    for file in refused[:_FILES]:
        yield f"! {_end(str(file.path))}: {file.why}"
    if len(refused) > _FILES:
        yield f"! … and {len(refused) - _FILES} more files that are no sessions"
    notes = [note for one in found for note in one.losses.notes]
    for note in notes[:2]:
        yield f"! {note}"


def _end(path: str, width: int = 60) -> str:
    return path if len(path) <= width else "…" + path[1 - width :]
