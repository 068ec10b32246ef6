"""The findings as plain data, with secrets masked; as JUnit for CI, and as one HTML page.

In the JUnit file a session is a test suite, and a rule at a compaction is a test case. Every text
of the page goes through ``untrusted.cut`` and then through autoescaping, and the page's policy
allows no script, so that no content of a session can run.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from typing import Any
from xml.etree import ElementTree

from constraintrot.coding_agents.sessions.events import CERTAINTY, Refused
from constraintrot.doctor.closest import changes
from constraintrot.doctor.context import Place
from constraintrot.doctor.findings import Broken, Change, Compacted, Diagnosis, History
from constraintrot.doctor.wording import advice, became, clock, lived, source
from constraintrot.redaction import masked_texts
from constraintrot.report import untrusted
from constraintrot.report.untrusted import cut

VERSION = 2
_LONGEST = 2_000


def data(
    found: Sequence[Diagnosis],
    refused: Sequence[Refused],
    mask: Callable[[str], str],
    read_by: Mapping[str, str] | None = None,
    seeds: str = "",
) -> dict[str, Any]:
    """Return the content of ``doctor.json``; every text goes through ``mask``.

    ``read_by`` is the reader's ``name``, ``why`` it was chosen, and how far to ``trust`` it;
    ``seeds`` is the folder that lost rules are written to.
    """
    told = {
        "version": VERSION,
        "reader": dict(read_by or {"name": "words", "why": "", "trust": ""}),
        "sessions": [_session(one, mask, seeds) for one in found],
        "refused": [{"path": str(one.path), "why": one.why} for one in refused],
        "totals": totals(found),
        "probe": [],
    }
    shown: dict[str, Any] = masked_texts(told, mask)
    return shown


def totals(found: Sequence[Diagnosis]) -> dict[str, int]:
    outcomes = [change.outcome for one in found for _, _, change in one.changed()]
    broken = [each for one in found for history in one.histories for each in history.broken]
    return {
        "sessions": len(found),
        "compactions": sum(len(one.compactions) for one in found),
        "rules": len({history.rule.folded for one in found for history in one.histories}),
        "survived": outcomes.count("survived"),
        "lost": outcomes.count("lost"),
        "revoked_by_you": outcomes.count("revoked by you"),
        "sent_by_the_agent": outcomes.count("sent by the agent"),
        "cannot_be_told": outcomes.count("cannot be told"),
        "broken": len(broken),
        "broken_unknowing": sum(each.knew is False for each in broken),
        "not_judged": sum(not history.judged for one in found for history in one.histories),
        "broken_lines": sum(one.losses.broken + one.losses.too_long for one in found),
    }


def _session(one: Diagnosis, mask: Callable[[str], str], seeds: str) -> dict[str, Any]:
    return {
        "name": one.session.name,
        "agent": one.session.title,
        "session": one.facts.session,
        "cwd": one.facts.cwd,
        "agent_version": one.facts.version,
        "bytes": one.session.size,
        "messages": one.messages,
        "calls": one.calls,
        "rules": [_history(one, history, seeds) for history in one.histories],
        "compactions": [
            _compacted({each.number: each for each in one.histories}, made, mask)
            for made in one.compactions
        ],
        "unread": {
            "broken_lines": one.losses.broken,
            "too_long_lines": one.losses.too_long,
            "first_line": one.losses.first,
            "unknown_records": one.losses.unknown,
            "notes": list(dict.fromkeys(one.losses.notes)),
            "error": one.error,
        },
    }


def _history(one: Diagnosis, history: History, seeds: str) -> dict[str, Any]:
    given = history.given
    return {
        "name": history.rule.name,
        "text": history.rule.text,
        "clause": history.rule.clause,
        "from": history.rule.file or "said in the session",
        "came_by": source(history),
        "channel": given.message.channel if given else None,
        "line": given.message.line if given else None,
        "time": given.message.time if given else None,
        "sent_by_the_agent": history.sent_by_agent,
        "lost_at_compaction": history.lost_at,
        "lived": lived(history) if given else None,
        "turns": history.turns,
        "seconds": history.seconds,
        "said_again_at": history.said_again,
        "revoked_at": history.revoked.line if history.revoked else None,
        "revoked_by": history.revoked.text if history.revoked else "",
        "confirmed": history.accepted,
        "advice": advice(one, history, seeds) if history.lost_at is not None else "",
        "judged": history.judged,
        "breach_draft": history.draft,
        "broken": [_broken(each) for each in history.broken],
    }


def _broken(each: Broken) -> dict[str, Any]:
    return {
        "line": each.line, "time": each.time, "call": each.call, "why": each.why,
        "was_in_context": each.knew, "by": each.by,
    }  # fmt: skip


def _compacted(
    histories: Mapping[int, History], made: Compacted, mask: Callable[[str], str]
) -> dict[str, Any]:
    return {
        "number": made.number,
        "line": made.line,
        "time": made.time,
        "clock": clock(made.time),
        "trigger": made.trigger,
        "certainty": made.certainty,
        "how_sure": CERTAINTY[made.certainty],
        "rules": [
            _change(histories[number], change, mask)
            for number, change in sorted(made.changes.items())
        ],
        "new_context": made.summary,
    }


def _change(history: History, change: Change, mask: Callable[[str], str]) -> dict[str, Any]:
    told: dict[str, Any] = {
        "name": history.rule.name,
        "text": history.rule.text,
        "outcome": change.outcome,
        "before": change.before,
        "after": change.after,
        "in_words": became(change),
        "probability_in_force": change.reading.bound if change.reading else None,
        "stood": _place(change.came_by, mask),
        "stands": _place(change.stands, mask),
    }
    if change.outcome in ("lost", "cannot be told"):
        quote = change.reading.quote if change.reading else ""
        instead = quote or change.instead.text
        before = change.came_by.found.window if change.came_by else history.rule.text
        # Masked before cutting and comparing: a part of a secret does not look like a secret.
        before, instead = mask(before)[:_LONGEST], mask(instead)[:_LONGEST]
        told["instead"] = instead
        told["diff"] = [list(one) for one in changes(before, instead)]
    return told


def _place(place: Place | None, mask: Callable[[str], str]) -> dict[str, Any] | None:
    if place is None:
        return None
    return {
        "line": place.message.line,
        "time": place.message.time,
        "channel": place.message.channel,
        "origin": mask(place.message.origin)[:300],
        "text": mask(place.found.window)[:_LONGEST],
        "cue": place.found.cue,
    }


_COUNTED = {"tests": "testcase", "failures": "testcase/failure", "skipped": "testcase/skipped"}
# Code points that XML 1.0 forbids and ``visible`` leaves.
_NO_XML = re.compile("[\ufffe\uffff\x00-\x08\x0b\x0c\x0e-\x1f]")


def junit(found: Mapping[str, Any]) -> str:
    root = ElementTree.Element("testsuites", name="constraintrot doctor")
    for session in found["sessions"]:
        suite = ElementTree.SubElement(root, "testsuite", name=_text(session["name"]))
        for made in session["compactions"]:
            for rule in made["rules"]:
                name = f"{rule['name']} survives compaction {made['number']}"
                _survival(_case(suite, session, name), made, rule)
        for rule in session["rules"]:
            _breaches(_case(suite, session, f"{rule['name']} is obeyed"), rule)
        for name, path in _COUNTED.items():
            suite.set(name, str(len(suite.findall(path))))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _survival(case: ElementTree.Element, made: Mapping[str, Any], rule: Mapping[str, Any]) -> None:
    if rule["outcome"] == "lost":
        failure = ElementTree.SubElement(case, "failure", type="lost", message=rule["in_words"])
        failure.text = _text(
            f"rule: {rule['text']}\nbefore: {(rule['stood'] or {}).get('text', '')}\n"
            f"after: {rule.get('instead') or 'nothing of it'}\nhow sure: {made['how_sure']}"
        )
    elif rule["outcome"] in ("not there", "cannot be told", "revoked by you"):
        ElementTree.SubElement(case, "skipped", message=rule["outcome"])


def _breaches(case: ElementTree.Element, rule: Mapping[str, Any]) -> None:
    if not rule["judged"]:
        ElementTree.SubElement(
            case, "skipped", message="not judged: which call would break it is not known"
        )
    if rule["broken"]:
        failure = ElementTree.SubElement(
            case, "failure", type="broken", message=f"{len(rule['broken'])} calls"
        )
        failure.text = _text(
            "\n".join(f"line {one['line']}: {one['why']}" for one in rule["broken"])
        )


def _case(suite: ElementTree.Element, session: Mapping[str, Any], name: str) -> ElementTree.Element:
    return ElementTree.SubElement(
        suite, "testcase", name=_text(name), classname=_text(session["agent"])
    )


def _text(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", cut(text))


_LONGEST_HTML = 8_000
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def html(found: Mapping[str, Any]) -> str:
    from markupsafe import Markup

    folder = resources.files("constraintrot.doctor.output")
    environment = untrusted.environment(_LONGEST_HTML)
    template = environment.from_string(
        folder.joinpath("template.html.j2").read_text(encoding="utf-8")
    )
    style = folder.joinpath("style.css").read_text(encoding="utf-8")
    text: str = template.render(found=found, policy=POLICY, style=Markup(style))
    return text
