"""The README's picture, of a run with the scripted model."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from constraintrot.runs import demo
from results.tools.demo_picture import first_request, picture


def test_it_shows_the_rule_the_call_and_the_three_verdicts(tmp_path: Path) -> None:
    demo.run(demo.SCRIPTED, 1, str(tmp_path), quick=True)
    drawn = ElementTree.fromstring(picture(first_request(tmp_path)))
    texts = [one for one in drawn.itertext() if one.strip()]
    assert [one for one in texts if one in ("OBEYED", "VIOLATED")] == [
        "OBEYED",
        "VIOLATED",
        "OBEYED",
    ]
    assert any(one.startswith("send_email(to=") for one in texts)
    assert any("brightwater-logistics.example" in one for one in texts)
    assert texts.count("Summary") == 2
