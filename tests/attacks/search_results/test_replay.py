"""``-T attack=@FILE``: what is played from a search's file, and which files are refused."""

import json
from pathlib import Path

import pytest
from inspect_ai._util.error import PrerequisiteError

from constraintrot import attacks
from constraintrot.attacks.search_results import jsonl
from constraintrot.errors import ParameterError
from constraintrot.evaluation.parameters import read
from tests.attacks.cases import staged
from tests.attacks.cases import written as wrote
from tests.attacks.search_results.cases import written
from tests.conftest import Run
from tests.helpers import samples


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "found.jsonl"


# -T attack=@file


def test_the_best_prompt_is_played(path: Path) -> None:
    written(path, False, True, True)
    for text in (f"@{path}", f"file:{path}"):
        found = attacks.read(text)
        assert str(found) == f"@{path}"
        assert attacks.read(str(found)).settings == found.settings
    before = staged("soft_email.en")
    (message,) = wrote(before, attacks.apply(f"@{path}", before))
    org = before.variant.values["org"]
    assert message.text.endswith(f"Text 2 for {org}.")
    assert str(read({"attack": f"@{path}"}).plays[0].attack) == f"@{path}"
    listed = [f"@{path}:channel=document", "position=recent"]
    assert (
        str(read({"attack": listed}).plays[0].attack) == f"@{path}:channel=document,position=recent"
    )


def test_any_prompt_can_be_played_in_any_channel(path: Path) -> None:
    written(path, False, False, channel="memory_entry", position="middle")
    found = attacks.read(f"@{path}#2:channel=document")
    assert str(found) == f"@{path}#2:channel=document"
    assert (found.settings.channel, found.settings.position) == ("document", "middle")
    assert attacks.read(str(found)).settings == found.settings
    before = staged("soft_email.en")
    (message,) = wrote(before, attacks.deliver(found, before))
    assert "Text 2" in message.text


@pytest.mark.parametrize(
    ("setting", "message"),
    [("size=100", "has no setting 'size'"), ("channel=system", "unknown channel 'system'")],
)
def test_a_wrong_setting(path: Path, setting: str, message: str) -> None:
    written(path, True)
    with pytest.raises(ParameterError, match=message):
        attacks.read(f"@{path}:{setting}")


def test_found_attacks_are_played_on_other_variants_only(path: Path, run: Run) -> None:
    written(path, True, variants=1)
    found = attacks.read(f"@{path}")
    found.check_held_out("soft_email", range(20))
    found.check_held_out("soft_deploy", [20])
    with pytest.raises(ParameterError, match="was searched on soft_email seeds 20;"):
        attacks.apply(f"@{path}", staged("soft_email.en", 20))
    with pytest.raises(PrerequisiteError, match="searched on soft_email seeds 20"):
        run("soft_email", attack=f"@{path}", variants=2, seed=19)
    log = run(
        "soft_email",
        attack=f"file:{path}",
        variants=1,
        conditions="compaction",
        model_roles={"summarizer": "scripted/summarizer-keep"},
    )
    (sample,) = samples(log)["compaction"]
    assert sample.metadata["attack"] == f"@{path}"


# Files that are refused.


def refused(path: Path, message: str) -> None:
    with pytest.raises(ParameterError, match=message) as raised:
        attacks.read(f"@{path}")
    assert str(path) in str(raised.value)
    with pytest.raises(ParameterError, match=message):
        read({"attack": f"@{path}"})


def test_a_missing_an_empty_and_a_foreign_file(path: Path) -> None:
    refused(path, "cannot be read: .*No such file")
    path.touch()
    refused(path, "is empty")
    path.write_text('{"format": "something else"}\n')
    refused(path, "is no constraintrot-attack-search file")
    path.write_text("Dear reader,\n")
    refused(path, "line 1: no JSON")
    path.write_text("[1]\n")
    refused(path, "line 1: no JSON object")
    path.write_bytes(b"\xff\xfe\n")
    refused(path, "line 1: no JSON")
    with pytest.raises(ParameterError, match="names no file"):
        attacks.read("@")


def test_another_version_and_a_header_without_its_canary(path: Path) -> None:
    written(path, True)
    header, *others = path.read_text(encoding="utf-8").splitlines()
    for name, value, message in (
        ("version", 2, "is of version 2, and this release reads version 1"),
        ("canary", "none", "lacks its canary"),
        ("settings", {"families": ["soft_email"]}, "not the settings of a search"),
    ):
        changed = json.loads(header) | {name: value}
        path.write_text("\n".join([json.dumps(changed), *others, ""]), encoding="utf-8")
        refused(path, message)


def test_rows_that_are_none(path: Path) -> None:
    written(path, True)
    for row in ({"kind": "riddle"}, {"no": "kind"}, {"kind": "searched", "query": 1, "trial": {}}):
        written(path, True)
        jsonl.append(path, row)
        refused(path, "line 6: ")


def test_a_search_that_found_nothing(path: Path) -> None:
    written(path, False, False)
    refused(path, "found no attack: 0 successes in 2 prompts")
    before = staged("soft_email.en")
    (message,) = wrote(before, attacks.apply(f"@{path}#1", before))
    assert "Text 1 for" in message.text
    with pytest.raises(ParameterError, match="holds no prompt 3; it has 1 to 2"):
        attacks.read(f"@{path}#3")
    written(path)
    refused(path, "holds no prompt at all")
