"""Files of searches: what is refused, what is played, and going on after a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import read_eval_log

from constraintrot import attacks
from constraintrot.attack_search import journal, jsonl
from constraintrot.attack_search.settings import SearchSettings
from constraintrot.errors import ParameterError
from constraintrot.evaluation.parameters import read
from tests import slow_model
from tests.attack_search.cases import rows, searched, settings, written
from tests.attacks.cases import staged
from tests.attacks.cases import written as wrote
from tests.conftest import Run
from tests.helpers import samples

assert slow_model.slow, "registers the model that the killed search asks"


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
    refused(path, "cannot be read: No such file")
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


@hypothesis_settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.data())
def test_a_file_cut_anywhere_is_refused_and_can_be_gone_on_with(
    tmp_path: Path, data: st.DataObject
) -> None:
    path = tmp_path / "cut.jsonl"
    whole = written(path, False, True)
    raw = path.read_bytes()
    header = raw.index(b"\n") + 1
    path.write_bytes(raw[: data.draw(st.integers(header, len(raw) - 1))])
    with pytest.raises(ParameterError, match=r"cut short|holds no prompt"):
        attacks.read(f"@{path}")
    found = journal.begin(path, settings(variants=1, eval_variants=1))
    assert raw.startswith(path.read_bytes())
    assert path.read_bytes().endswith(b"\n")
    assert set(found.searched) <= set(whole.searched)
    assert found.done is None


def test_a_search_that_found_nothing(path: Path) -> None:
    written(path, False, False)
    refused(path, "found no attack: 0 successes in 2 prompts")
    assert "Text 1" in attacks.read(f"@{path}#1").attack.summary or attacks.read(f"@{path}#1")
    with pytest.raises(ParameterError, match="holds no prompt 3; it has 1 to 2"):
        attacks.read(f"@{path}#3")
    written(path)
    refused(path, "holds no prompt at all")


# Going on.


def test_other_settings_are_refused_and_nothing_is_written(path: Path) -> None:
    written(path, False)
    before = path.read_bytes()
    with pytest.raises(ParameterError, match=r"other settings: random_seed \(random_seed was 0"):
        journal.begin(path, settings(variants=1, eval_variants=1, random_seed=1))
    assert path.read_bytes() == before


def test_a_foreign_file_is_never_written_over(path: Path) -> None:
    path.write_text("my notes\n")
    with pytest.raises(ParameterError, match="no JSON"):
        journal.begin(path, settings())
    assert path.read_text() == "my notes\n"


def test_settings_come_back_as_they_were(path: Path) -> None:
    wanted = settings(parameters={"rounds": 2, "budget_words": 40, "locale": "zh"})
    journal.begin(path, wanted)
    header = jsonl.read(path, journal.FORMAT)
    assert SearchSettings.model_validate(header.settings) == wanted
    journal.begin(path, wanted)


SCRIPT = """
import sys
from pathlib import Path
from tests import slow_model
from tests.attack_search.cases import searched
searched(Path(sys.argv[1]), "resist", 6, agent="slow/obedient",
         roles={"summarizer": "slow/summarizer-resist"})
"""


def test_a_killed_search_goes_on_without_asking_anything_twice(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "found.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        env={**os.environ, "CONSTRAINTROT_CACHE": str(cache)},
        cwd=Path(__file__).parents[3],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    give_up = time.monotonic() + 120
    while time.monotonic() < give_up and process.poll() is None:
        if path.exists() and path.read_bytes().count(b'"kind": "searched"') >= 5:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "the search ended before it could be killed"
    killed = path.read_bytes()
    whole = killed[: killed.rfind(b"\n") + 1]
    before = whole.count(b'"kind": "searched"')
    assert 5 <= before < 14

    logs = set((tmp_path / "logs").glob("*.eval"))
    found = searched(
        tmp_path,
        "resist",
        6,
        agent="slow/obedient",
        roles={"summarizer": "slow/summarizer-resist"},
    )
    assert path.read_bytes().startswith(whole)
    played = [
        (row["kind"], row["query"], row["trial"]["seed"]) for row in rows(path) if "trial" in row
    ]
    assert len(set(played)) == len(played) == 2 * 7 + 2 * 2
    prompts = [row["query"] for row in rows(path) if row.get("kind") == "prompt"]
    assert prompts == [1, 2, 3, 4, 5, 6]
    assert found.done == 6
    # Each episode asks the summarizer once and the agent once.
    (log,) = set((tmp_path / "logs").glob("*.eval")) - logs
    (sample,) = read_eval_log(str(log)).samples or []
    assert sum(event.event == "model" for event in sample.events) == 2 * (len(played) - before)
    assert found.history() == searched(tmp_path / "other", "resist", 6).history()
