"""A stranger's folder: its page says that no log was read, shows texts as texts, and ends."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from constraintrot.errors import ConstraintRotError
from constraintrot.report.page import frames
from constraintrot.runs.reproduce import beside, corrections, kept, page
from constraintrot.runs.reproduce.play import QUALIFICATION, after, qualified, sizes_of
from constraintrot.runs.reproduce.registration import FILE, Registration, read
from tests.invoked import invoked

COMMITTED = Path(__file__).parents[3] / "results/reproduce/local-1.5b"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "theirs"
    made.mkdir()
    for name in (FILE, QUALIFICATION, kept.EPISODES, kept.FACTS):
        shutil.copy(COMMITTED / name, made)
    return made


def edited(folder: Path, **change: Any) -> None:
    """Change a registration, with the digest of what it has become."""
    data = yaml.safe_load((folder / FILE).read_text()) | change
    sealed = Registration.model_validate(data).sealed.model_dump(mode="json")
    (folder / FILE).write_text(yaml.safe_dump(sealed, sort_keys=False))


def made(folder: Path, code: int = 0) -> str:
    return invoked("reproduce", "page", folder, exits=code).output


def test_a_page_without_logs_says_so(folder: Path) -> None:
    made(folder)
    for name in page.NAMES[:2]:
        assert "without the logs" in (folder / name).read_text()
    assert json.loads((folder / page.NAMES[2]).read_text())["from_logs"] is False


@pytest.mark.parametrize("name", [kept.EPISODES, kept.FACTS])
@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "huge", "binary", "missing", "deep"])
def test_a_file_of_another_kind_is_named(folder: Path, name: str, kind: str) -> None:
    path = folder / name
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    elif kind == "huge":
        with path.open("wb") as file:
            file.truncate(3_000_000_000)
    elif kind == "binary":
        path.write_bytes(b"\xff\xfe\x80\n" * 20)
    elif kind == "deep":
        path.write_text("[" * 200_000)
    told = made(folder, 2)
    assert str(path) in told
    assert len(told.splitlines()) == 1


def test_a_page_is_written_through_no_link(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("mine")
    (folder / page.NAMES[0]).symlink_to(other)
    assert "it is a link" in made(folder, 2)
    assert other.read_text() == "mine"


def test_markup_of_a_registration_is_shown_as_text(folder: Path) -> None:
    edited(folder, code={"sources": "<script>alert(1)</script> ![i](https://evil.example/i)"})
    made(folder)
    text = (folder / "claims.md").read_text()
    assert "code unknown (\\<script\\>alert(1)\\</script\\> \\![i]\\(https\\://" in text
    assert "<script>alert" not in (folder / "claims.html").read_text()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"code": {"version": "9\n\n# Same", "sources": "x"}}, "code.version has a line break"),
        ({"code": {"version": "9\x1b[31m", "sources": "x"}}, "code.version has a line break"),
        ({"other": "a | b"}, "other has a line break, a |"),
        ({"preset": "theirs"}, "is of preset 'theirs': there are smoke"),
        ({"planned": [{"title": "theirs", "pairs": 3}]}, "plans 'theirs'"),
    ],
)
def test_a_registration_that_cannot_be_shown_is_refused(
    folder: Path, change: dict[str, Any], told: str
) -> None:
    edited(folder, **change)
    assert told in made(folder, 2)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x\n\n**Of 9 claims: 9 same.**", "because has a line break"),
        ("a | b", "because has a line break, a |"),
        ("\u202eemas", "because has a line break, a | or a hidden character"),
    ],
)
def test_a_correction_that_cannot_be_shown_is_refused(folder: Path, text: str, told: str) -> None:
    title = "Compaction makes agents break policies"
    correction = {"claim": title, "day": "2026-11-28", "because": text}
    (folder / corrections.FILE).write_text(json.dumps([correction]))
    assert told in made(folder, 2)


def test_a_correction_from_a_device_is_refused(folder: Path) -> None:
    (folder / corrections.FILE).symlink_to("/dev/zero")
    assert corrections.FILE in made(folder, 2)


def test_episodes_below_the_first_seed_do_not_count(folder: Path) -> None:
    """Whoever adds the best of other seeds to a frame gains nothing."""
    edited(folder, seed=40)
    assert "no look is whole yet" in made(folder, 2)
    edited(folder, seed=4)
    registration = read(folder / FILE)
    sizes = sizes_of(registration, qualified(registration, folder))
    assert set(kept.raw(folder)["seed"]) == set(range(6))
    assert set(after(registration, sizes, folder, 1)[1]["seed"]) == {4, 5}
    (folder / FILE).write_text((folder / FILE).read_text().replace("\nseed: 4\n", "\nseed: 4000\n"))
    assert "seed: Input should be less than 60" in made(folder, 2)


def test_looks_are_bounded(folder: Path) -> None:
    path = folder / FILE
    path.write_text(path.read_text().replace("\nlooks: 2\n", "\nlooks: 100000000\n"))
    assert "looks: Input should be less than or equal to 20" in made(folder, 2)


@pytest.mark.parametrize("data", ["[]", "{}", '{"claims": [1]}', "[" * 200_000, "\x00"])
def test_verdicts_beside_each_other_are_of_pages(folder: Path, data: str) -> None:
    (folder / page.NAMES[2]).write_text(data)
    with pytest.raises(ConstraintRotError, match=r"claims\.json"):
        beside.side_by_side([folder, folder])


def test_a_string_reader_that_gets_the_verdict_is_told(folder: Path) -> None:
    made(folder)
    text = (folder / "claims.md").read_text()
    frame = kept.raw(folder)
    for harness, claim in (("replay", "decay"), ("langgraph", "LangGraph")):
        arms = frame[(frame["harness"] == harness) & (frame["defense"] == "none")]
        agreed = int(((arms["verbatim"] != 1) == (arms["violation"] == 1)).sum())
        assert f"does as the agent did in {agreed} of {len(arms)} episodes" in text, claim
    assert text.count("| **same** | by construction |") == 2


def test_a_verdict_that_no_string_reader_gets_is_the_agent_s(folder: Path) -> None:
    path = folder / kept.EPISODES
    frame = kept.raw(folder)
    frame["verbatim"] = 1.0
    path.write_text(frames.csv_text(frame))
    made(folder)
    data = json.loads((folder / page.NAMES[2]).read_text())
    assert [one["same"] for one in data["string_reader"].values()] == [False, False]
    text = (folder / "claims.md").read_text()
    assert "By construction" not in text
    # What is left is what one reader of rules says, and both claims follow from that.
    assert [one["same"] for one in data["survival_reader"].values()] == [True, True]
    assert text.count("**By survival.** A program that keeps exactly the policies") == 2
