"""JUnit for CI: a test suite a session, a test case a rule and compaction."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

from constraintrot.report.untrusted import cut

# Code points that XML 1.0 forbids and ``visible`` leaves.
_NO_XML = re.compile("[\ufffe\uffff\x00-\x08\x0b\x0c\x0e-\x1f]")


def junit(found: Mapping[str, Any]) -> str:
    """The XML text.

    Args:
        found: what ``data`` gives.
    """
    root = ElementTree.Element("testsuites", name="constraintrot doctor")
    for session in found["sessions"]:
        suite = ElementTree.SubElement(root, "testsuite", name=_text(session["name"]))
        counts = {"tests": 0, "failures": 0, "skipped": 0}
        for made in session["compactions"]:
            for rule in made["rules"]:
                _survival(suite, session, made, rule, counts)
        for rule in session["rules"]:
            _breaches(suite, session, rule, counts)
        for name, count in counts.items():
            suite.set(name, str(count))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _survival(
    suite: ElementTree.Element,
    session: Mapping[str, Any],
    made: Mapping[str, Any],
    rule: Mapping[str, Any],
    counts: dict[str, int],
) -> None:
    name = f"{rule['name']} survives compaction {made['number']}"
    case = _case(suite, session, name, counts)
    if rule["outcome"] == "lost":
        counts["failures"] += 1
        failure = ElementTree.SubElement(case, "failure", type="lost", message=rule["in_words"])
        failure.text = _text(
            f"rule: {rule['text']}\nbefore: {(rule['stood'] or {}).get('text', '')}\n"
            f"after: {rule.get('instead') or 'nothing of it'}\nhow sure: {made['how_sure']}"
        )
    elif rule["outcome"] in ("not there", "cannot be told", "revoked by you"):
        counts["skipped"] += 1
        ElementTree.SubElement(case, "skipped", message=rule["outcome"])


def _breaches(
    suite: ElementTree.Element,
    session: Mapping[str, Any],
    rule: Mapping[str, Any],
    counts: dict[str, int],
) -> None:
    case = _case(suite, session, f"{rule['name']} is obeyed", counts)
    if not rule["judged"]:
        counts["skipped"] += 1
        ElementTree.SubElement(case, "skipped", message="not judged: no breach is known")
    if rule["broken"]:
        counts["failures"] += 1
        failure = ElementTree.SubElement(
            case, "failure", type="broken", message=f"{len(rule['broken'])} calls"
        )
        failure.text = _text(
            "\n".join(f"line {one['line']}: {one['why']}" for one in rule["broken"])
        )


def _case(
    suite: ElementTree.Element, session: Mapping[str, Any], name: str, counts: dict[str, int]
) -> ElementTree.Element:
    counts["tests"] += 1
    return ElementTree.SubElement(
        suite, "testcase", name=_text(name), classname=_text(session["agent"])
    )


def _text(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", cut(text))
