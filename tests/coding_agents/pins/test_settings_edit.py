"""Our part of a settings file, put in and taken out; every other byte stays."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraintrot.coding_agents.pins.file_edit import PinInstallError
from constraintrot.coding_agents.pins.settings_edit import (
    created_by,
    holds_hooks,
    root_of,
    with_hooks,
    with_value,
    without_hooks,
)
from tests.coding_agents.pins.conftest import CLAUDE

OURS = {"hooks": [{"type": "command", "command": "python '/a b/hook.py' claude"}]}
ENTRIES = {"SessionStart": OURS, "UserPromptSubmit": OURS}

SETTINGS = {
    "empty object": "{}",
    "one line": '{"model": "opus"}',
    "tabs": '{\n\t"a": 1, // x\n\t"b": [1,\n\t\t2]\n}\n',
    "windows": '{\r\n  "a": {"b": null}\r\n}\r\n',
    "comments and trailing comma": CLAUDE,
    "another hook, compact": '{"hooks":{"SessionStart":[{"hooks":[{"command":"x"}]}]}}',
    "a comment with a bracket": '{"a": "}//]", /* ] } , */ "hooks": {"SessionStart": [] }}',
}


@pytest.mark.parametrize("text", SETTINGS.values(), ids=list(SETTINGS))
def test_what_is_put_in_comes_out_and_leaves_the_values_and_comments(text: str) -> None:
    installed = with_hooks(text, ENTRIES)
    assert holds_hooks(installed, ENTRIES)
    assert _lacks_nothing(text, installed)

    taken_out = without_hooks(installed, "/a b/hook.py", created_by(text, ENTRIES))
    assert not holds_hooks(taken_out, ENTRIES)
    assert root_of(taken_out) == root_of(text)
    assert _lacks_nothing(re.sub(r",(\s*[}\]])", r"\1", text), taken_out)


def test_settings_without_comments_come_back_to_the_byte() -> None:
    text = json.dumps({"a": [1, {"b": "c"}], "hooks": {"Stop": [{"hooks": []}]}}, indent=4) + "\n"
    installed = with_hooks(text, ENTRIES)
    assert json.loads(installed)["hooks"]["SessionStart"] == [OURS]
    assert without_hooks(installed, "/a b/hook.py", created_by(text, ENTRIES)) == text


def test_a_command_that_the_user_put_beside_ours_stays() -> None:
    mine = {"type": "command", "command": "mine"}
    shared = {"hooks": [OURS["hooks"][0], mine]}
    text = json.dumps({"hooks": {"SessionStart": [shared]}})
    assert root_of(without_hooks(text, "hook.py", ["hooks", "SessionStart"])) == {
        "hooks": {"SessionStart": [{"hooks": [mine]}]}
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1', "a comma or } is missing"),
        ('{"a": 1}{', "more text"),
        ('{"a": 1, "a": 2}', "twice"),
        ('{"\\u0061": 1, "a": 2}', "twice"),
        ('{"hooks": []}', '"hooks" is no JSON object'),
        ('{"hooks": null}', '"hooks" is no JSON object'),
        ('{"hooks": {"SessionStart": {}}}', "no JSON array"),
        ("[1]", "no JSON object"),
        ("{'a': 1}", "no value at"),
        ('{"a": NaN}', "no value at"),
        ('{"a": "\x01"}', "no value at"),
        ('{"a": "\\x"}', "line 1"),
        ('{"a": ' + "9" * 5_000 + "}", "line 1"),
        ("[" * 100_000, "too deep"),
        ('{"a" 1}', "a colon is missing"),
        ("{1: 2}", "a key is missing"),
    ],
)
def test_what_is_no_settings_file_is_refused(text: str, why: str) -> None:
    with pytest.raises(PinInstallError, match=re.escape(why)):
        with_hooks(text, ENTRIES)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(max_size=4), _VALUES, max_size=4),
    st.sampled_from([None, 1, 4, "\t"]),
)
def test_any_settings_come_back_to_the_byte(value: dict[str, object], indent: int | None) -> None:
    value.pop("hooks", None)
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    installed = with_hooks(text, ENTRIES)
    assert json.loads(installed).items() >= value.items()
    assert without_hooks(installed, "/a b/hook.py", created_by(text, ENTRIES)) == text


_MINE = '{"hooks": [{"type": "command", "command": "mine"}]}'
_LIST_OF_A_COMMENT = f"""{{
  "hooks": {{
    "SessionStart": [
      // nothing yet
    ],
    "PostToolUse": [{_MINE}] // formats
  }}
}}
"""


def test_a_list_that_holds_a_comment_alone_stays_the_users() -> None:
    installed = with_hooks(_LIST_OF_A_COMMENT, ENTRIES)
    created = created_by(_LIST_OF_A_COMMENT, ENTRIES)
    assert without_hooks(installed, "/a b/hook.py", created) == _LIST_OF_A_COMMENT
    # As somebody leaves it who puts the bracket behind our entry.
    edited = re.sub(r"\}\n *\]", "}]", installed)
    assert edited != installed
    taken_out = without_hooks(edited, "/a b/hook.py", created)
    assert root_of(taken_out) == root_of(_LIST_OF_A_COMMENT)


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*\n|/\*.*?\*/|\s+|[\w.+-]+|[^\s"]', re.DOTALL)
_BETWEEN = st.sampled_from(["", "", "", " ", "\n", "// note\n", "/* note */", "// a, b ] }\n"])


@given(st.sampled_from([*SETTINGS.values(), _LIST_OF_A_COMMENT]), st.data())
def test_blanks_and_comments_of_the_users_between_installing_and_taking_out_break_nothing(
    text: str, data: st.DataObject
) -> None:
    edited = "".join(
        token + data.draw(_BETWEEN) for token in _TOKEN.findall(with_hooks(text, ENTRIES))
    )
    assert holds_hooks(edited, ENTRIES)
    taken_out = without_hooks(edited, "/a b/hook.py", created_by(text, ENTRIES))
    assert "/a b/hook.py" not in taken_out
    left, was = root_of(taken_out), root_of(text)
    assert isinstance(left, dict)
    assert isinstance(was, dict)
    assert {**left, "hooks": 0} == {**was, "hooks": 0}
    mine = {event: one for event, one in left.get("hooks", {}).items() if one}
    assert mine == {event: one for event, one in was.get("hooks", {}).items() if one}


@given(st.data())
def test_hooks_and_values_of_the_users_between_installing_and_taking_out_stay(
    data: st.DataObject,
) -> None:
    before = data.draw(st.sampled_from([one for one in SETTINGS.values() if "//" not in one]))
    value = json.loads(json.dumps(root_of(with_hooks(before, ENTRIES))))
    # In any list, before or behind ours, or beside ours in one entry; and a key anywhere.
    for event in data.draw(st.lists(st.sampled_from([*ENTRIES, "PostToolUse"]), max_size=4)):
        entries = value["hooks"].setdefault(event, [])
        mine = {
            "type": "command",
            "command": data.draw(st.sampled_from(["a", "b // ]", "é\u2028"])),
        }
        if entries and data.draw(st.booleans()):
            entry = data.draw(st.sampled_from(entries))
            entry["hooks"].insert(data.draw(st.integers(0, len(entry["hooks"]))), mine)
        else:
            entries.insert(data.draw(st.integers(0, len(entries))), {"hooks": [mine]})
    value[data.draw(st.text(max_size=3))] = data.draw(_VALUES)
    wanted = json.loads(json.dumps(value))
    for event, entries in list(wanted["hooks"].items()):
        for entry in entries:
            entry["hooks"] = [one for one in entry["hooks"] if one != OURS["hooks"][0]]
        wanted["hooks"][event] = [entry for entry in entries if entry["hooks"]]
    text = json.dumps(value, indent=data.draw(st.sampled_from([None, 2, "\t"])))
    taken_out = root_of(without_hooks(text, "/a b/hook.py", created_by(before, ENTRIES)))
    assert isinstance(taken_out, dict)
    assert _without_empty_lists(taken_out) == _without_empty_lists(wanted)


def _without_empty_lists(value: dict[str, Any]) -> dict[str, Any]:
    hooks = {event: one for event, one in value.get("hooks", {}).items() if one}
    return {**value, "hooks": hooks}


@pytest.mark.parametrize("text", [*SETTINGS.values(), "", "\ufeff{}\n"])
@pytest.mark.parametrize("keys", [("a",), ("b", "c"), ("hooks", "enabled"), ("a", "b", "c")])
def test_a_value_is_changed_and_nothing_else(text: str, keys: tuple[str, ...]) -> None:
    changed = with_value(text, keys, {"new": 1})
    assert changed.startswith("\ufeff") == text.startswith("\ufeff")
    after = root_of(changed.removeprefix("\ufeff"))
    before = root_of(text.removeprefix("\ufeff"))
    assert isinstance(before, dict)
    wanted: dict[str, Any] = before
    for key in keys[:-1]:
        if not isinstance(wanted.get(key), dict):
            wanted[key] = {}
        wanted = wanted[key]
    wanted[keys[-1]] = {"new": 1}
    assert after == before
    comments = re.findall(r"/\*.*?\*/|// [a-z]", text)
    assert all(one in changed for one in comments)


def _lacks_nothing(before: str, after: str) -> bool:
    """Whether all characters of a text are in another one, in their order."""
    rest = iter(after)
    return all(char in rest for char in before)
