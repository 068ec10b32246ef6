"""Empty, foreign, broken, binary, huge and hostile files: said plainly, and nothing is lost."""

import copy
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from constraintrot.coding_agents.sessions import json_lines, sessions
from constraintrot.coding_agents.sessions.events import Losses, Refused
from constraintrot.doctor.output.data import data, html, junit
from constraintrot.doctor.output.terminal import summary
from constraintrot.doctor.rules import Rule, read
from constraintrot.redaction import Masker
from tests.doctor import recordings
from tests.doctor import sessions as made

RULE = Rule("push", made.FORCE_PUSH, file="rules.yaml")
NASTY = "</script><script>alert(1)</script> \x1b[2J\x1b]0;title\x07 \u202eabc\ud800"


def refused(path: Path) -> str:
    (found,) = sessions(path)
    assert isinstance(found, Refused)
    return found.why


def test_files_that_are_no_sessions_say_why(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_bytes(b"\n \n")
    (tmp_path / "binary.jsonl").write_bytes(b"\x7fELF\x00\x01")
    (tmp_path / "foreign.jsonl").write_text('{"a": 1}\n{"b": 2}\n', encoding="utf-8")
    (tmp_path / "fake.db").write_bytes(b"SQLite format 3\x00" + b"\xff" * 4096)
    assert refused(tmp_path / "empty.jsonl") == "it is empty"
    assert "binary" in refused(tmp_path / "binary.jsonl")
    assert "no session that this reads" in refused(tmp_path / "foreign.jsonl")
    assert "no database of opencode" in refused(tmp_path / "fake.db")
    (tmp_path / "torn.eval").write_bytes(b"PK\x03\x04 not a log")
    assert refused(tmp_path / "torn.eval")
    (tmp_path / "t.json").write_text(
        '{"schema_version": "ATIF-v1.4", "steps": 1}', encoding="utf-8"
    )
    assert refused(tmp_path / "t.json")
    assert refused(tmp_path / "missing.jsonl") == "No such file or directory"
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert "neither a file nor a folder" in refused(tmp_path / "pipe.jsonl")


def test_folder_that_holds_none_or_is_closed_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s.jsonl").mkdir()
    assert "no file in this folder may be a session" in refused(tmp_path / "s.jsonl")
    closed = PermissionError(13, "Permission denied", str(tmp_path))

    def walk(
        path: Path, onerror: Callable[[OSError], object]
    ) -> list[tuple[str, list[str], list[str]]]:
        onerror(closed)
        return []

    monkeypatch.setattr(os, "walk", walk)
    assert refused(tmp_path) == "Permission denied"


def test_rule_at_the_end_of_a_long_text_is_found_and_the_rest_is_said(tmp_path: Path) -> None:
    text = "nothing of interest here, only a log\n" * 3_000 + made.FORCE_PUSH
    path = made.write(tmp_path / "s.jsonl", made.user(1, text), *made.compacted(2, made.SUMMARY))
    found = made.diagnosed(path)
    assert [one.rule.text for one in found.histories] == [made.FORCE_PUSH]
    assert found.losses.notes[0].startswith("texts so long that only their first and last 20,000")
    assert ": 1; name yours" in found.losses.notes[0]


def test_link_that_goes_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "b.jsonl")
    (tmp_path / "b.jsonl").symlink_to(tmp_path / "a.jsonl")
    (tmp_path / "up").symlink_to(tmp_path, target_is_directory=True)
    found = list(sessions(tmp_path))
    assert [type(one) for one in found] == [Refused, Refused]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = made.lost_session(tmp_path / "s.jsonl")
    path.chmod(0)
    assert refused(path) == "Permission denied"


def test_broken_lines_cost_themselves_and_are_counted(tmp_path: Path) -> None:
    path = made.lost_session(tmp_path / "s.jsonl")
    lines = path.read_bytes().splitlines()
    bad = [b"{broken", b"[1, 2]", b'"text"', b"\xff\xfe{", b"{" * 3000, b'{"a":' * 2000 + b"1"]
    mixed = [one for pair in zip(lines, [*bad, b""], strict=False) for one in pair]
    path.write_bytes(b"\n".join(mixed))
    found = made.diagnosed(path, RULE)
    assert (found.losses.broken, found.losses.first) == (len(bad), 2)
    assert len(found.lost()) == 1
    assert any(f"{len(bad)} lines could not be read" in one for one in summary([found], [], str))


def test_bytes_that_are_no_text_cost_only_themselves(tmp_path: Path) -> None:
    path = made.lost_session(tmp_path / "s.jsonl")
    path.write_bytes(path.read_bytes().replace(b"The last row", b"The l\xffst row"))
    found = made.diagnosed(path, RULE)
    assert (found.losses.broken, found.messages) == (0, 5)


def test_line_longer_than_is_read_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_lines, "LONGEST_LINE", 2_000)
    path = made.write(
        tmp_path / "s.jsonl",
        made.user(1, made.FORCE_PUSH),
        made.user(2, "x" * 9_000),
        *made.compacted(3, "y"),
    )
    found = made.diagnosed(path, RULE)
    assert (found.losses.too_long, found.losses.first, len(found.lost())) == (1, 2, 1)


def test_rule_in_a_line_of_ten_megabytes_is_found(tmp_path: Path) -> None:
    text = "nothing of interest here, only a log\n" * 140_000
    long = text + made.FORCE_PUSH + "\n" + text
    path = made.write(tmp_path / "s.jsonl", made.user(1, long), *made.compacted(2, made.SUMMARY))
    assert path.stat().st_size > 10_000_000
    ((_, history, change),) = made.diagnosed(path, RULE).lost()
    assert history.given is not None
    assert change.before == "verbatim"


@pytest.mark.parametrize("filler", ["x", "a-", "a.", "a/", "-", "(", "no ", "never ", "1,"])
def test_filler_of_one_kind_around_a_rule_takes_no_longer(filler: str, tmp_path: Path) -> None:
    long = filler * (40_000 // len(filler))
    near = filler * (1_000 // len(filler))
    told = [f"{long} {made.FORCE_PUSH}", f"{made.FORCE_PUSH} Always ask {near} first. {long}"]
    path = made.write(
        tmp_path / "s.jsonl",
        *(made.user(at, text) for at, text in enumerate(told)),
        *made.compacted(3, long),
    )
    start = time.process_time()
    for rules in ((), (RULE,)):
        assert made.diagnosed(path, *rules).error == ""
    assert time.process_time() - start < 5


@pytest.mark.parametrize("filler", [" ", "<system-reminder>", "</system-reminder>", "\n<"])
def test_a_result_without_a_reminder_s_end_is_read_in_linear_time(
    tmp_path: Path, filler: str
) -> None:
    long = filler * (400_000 // len(filler))
    path = made.write(
        tmp_path / "s.jsonl", made.user(1, made.FORCE_PUSH), *made.call(2, "Bash", {}, long)
    )
    start = time.process_time()
    assert made.diagnosed(path, RULE).error == ""
    assert time.process_time() - start < 5


def test_marked_parts_are_cut_out_of_a_text() -> None:
    cut = json_lines.cut_out
    assert cut("a<x>1</x>b<x>2</x>", "<x>", "</x>") == (["a", "b", ""], ["1", "2"])
    assert cut("a</x><x>1<x>2</x>3<x>4", "<x>", "</x>") == (["a</x>", "3<x>4"], ["1<x>2"])
    long = "<custom_instruction>\n" * 20_000
    start = time.process_time()
    assert cut(long, "<custom_instruction>\n", "\n</custom_instruction>") == ([long], [])
    assert time.process_time() - start < 1


def test_a_file_of_one_rule_many_times_is_read_in_linear_time(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.md"
    path.write_text("- Never push to main.\n" * 10_000 + "Never sell data. " * 10_000)
    start = time.process_time()
    assert [one.text for one in read(path)] == ["Never push to main.", "Never sell data."]
    assert time.process_time() - start < 20


def test_any_shape_of_a_value_is_borne(tmp_path: Path) -> None:
    odd = [None, 1, "x", [], {}, [None, 1, {"type": None}], {"type": ["text"], "text": 4}]
    lines = [made.line(kind, 1, message=one, attachment=one, compactMetadata=one, subtype="compact_boundary")
             for one in [*odd, *({"content": one} for one in odd)]
             for kind in ("user", "assistant", "system", "attachment")]  # fmt: skip
    path = made.write(tmp_path / "s.jsonl", made.user(1, made.FORCE_PUSH), *lines)
    assert made.diagnosed(path, RULE).error == ""


def test_nothing_of_a_session_runs_or_moves_the_cursor(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    rule = Rule("n", f"Never do {NASTY} on the release branch.", file="rules.yaml")
    path = made.write(
        tmp_path / "s.jsonl",
        made.user(1, rule.text),
        *made.compacted(2, f"Summary {NASTY}"),
        made.reply(3, NASTY),
    )
    found = [made.read(path, {"Summary": ("lost", 0.04)}, rule)]
    gone = [Refused(Path(f"/tmp/{NASTY}"), NASTY)]
    told = data(found, gone, Masker())
    page, xml = html(told), junit(told)
    assert "<script" not in page
    assert "default-src &#39;none&#39;" in page
    for text in (page, xml, "\n".join(summary(found, gone, Masker()))):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e\ud800]", text)
        text.encode("utf-8")
    assert json.loads(json.dumps(told, ensure_ascii=True))["totals"]["lost"] == 1


def test_reading_that_breaks_off_keeps_what_was_read(tmp_path: Path) -> None:
    path = made.lost_session(tmp_path / "s.jsonl")
    session = made.opened(path)

    def torn(losses: object):  # type: ignore[no-untyped-def]
        yield from session.events(losses)  # type: ignore[arg-type]
        raise OSError("the disk is gone")

    from dataclasses import replace

    from constraintrot.doctor.verdicts import diagnose

    found = diagnose(replace(session, events=torn), [RULE])
    assert found.error == "OSError: the disk is gone"
    assert len(found.lost()) == 1


ODD: list[Any] = [None, -1, 1e308, [], {}, [[None]], True, {"a": {}}, [{}], "\ud800", 10**400]


def _places(node: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(node, dict | list):
        named = node.items() if isinstance(node, dict) else enumerate(node)
        for key, value in named:
            yield (*before, key)
            yield from _places(value, (*before, key))


@pytest.mark.parametrize("form", ["claude", *recordings.FORMS])
def test_any_value_of_a_transcript_may_be_of_any_shape(form: str, tmp_path: Path) -> None:
    lines: list[Any] = [
        made.user(1, made.FORCE_PUSH), made.reply(2, "Understood."),
        *made.call(3, "Bash", {"command": "git push"}, "done"), *made.compacted(5, made.SUMMARY),
    ] if form == "claude" else recordings.FORMS[form](recordings.conversation())  # fmt: skip
    random = Random(form)
    places = [(at, place) for at, one in enumerate(lines) for place in _places(one)]
    for at, place in random.sample(places, min(len(places), 120)):
        spoilt = copy.deepcopy(lines)
        node = spoilt[at]
        for key in place[:-1]:
            node = node[key]
        node[place[-1]] = random.choice(ODD)
        path = tmp_path / "s.jsonl"
        path.write_text("\n".join(map(json.dumps, spoilt)) + "\n", encoding="utf-8")
        for found in sessions(path):
            if not isinstance(found, Refused):
                list(found.events(Losses()))


@pytest.mark.parametrize("value", [[], {}, [{}], 5, None])
def test_a_line_of_no_kind_hides_nothing_that_comes_after_it(value: Any, tmp_path: Path) -> None:
    spoilt = made.line("user", 2, message={"content": "x"}) | {"type": value}
    path = made.write(tmp_path / "s.jsonl", made.user(1, "First."), spoilt, made.user(3, "Last."))
    (found,) = sessions(path)
    assert not isinstance(found, Refused)
    assert "Last." in str(list(found.events(Losses())))
