"""YAML that somebody hands us: each text is read as a reader sees it, or refused by an error of ours."""

import pytest

from constraintrot.documents import yaml_data
from constraintrot.errors import ScenarioError

REFUSED = {
    "no number": 'a: !!int ""',
    "no number of its tag": "a: !<tag:yaml.org,2002:int> _",
    "no fraction": 'a: !!float ""',
    "no truth": "a: !!bool x",
    "no time": "a: !!timestamp x",
    "a key of no number": '!!int "": 1',
    "an object of Python's": "a: !!python/object/apply:os.system [x]",
    "no bytes": 'a: !!binary "é"',
    "no date": "a: 2026-13-45",
    "a time beyond the day": "a: 2026-01-01T00:00:00+99:99",
    "one key as two numbers": "limit: 1\n1: x\n1.0: y",
    "one key as two nothings": "null: x\n~: y",
    "one key as two truths": "true: x\nTRUE: y",
    "a truth and a number as keys": "true: x\n1: y",
    "one key in two bases": "16: x\n0x10: y",
    "a text and a number as keys": '1: x\n"1": y',
    "a merge that is none": "a: {<<: 1}",
    "two merges": "<<: {a: 1}\n<<: {b: 1}",
    "a second document": "--- a\n--- b",
    "a tag of its own": "%TAG ! tag:x:\n--- !y a",
    "half of a character": 'a: "\\ud800"',
    "a zero byte": "a: \x00",
}


@pytest.mark.parametrize("case", REFUSED)
def test_yaml_is_refused_by_an_error_of_ours(case: str) -> None:
    with pytest.raises(ScenarioError, match="rules"):
        yaml_data(REFUSED[case], "rules")


def test_plain_yaml_is_read_as_before() -> None:
    text = "2: x\n<<: {a: 1}\nb: 2026-01-01\ntrue: 1\nfalse: 0"
    assert set(yaml_data(text, "rules")) == {2, "a", "b", True, False}
